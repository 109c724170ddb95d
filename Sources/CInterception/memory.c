#include "Taken.h"

#if !defined(NOTHING_IS_TAKEN) && !defined(MEMORY_AND_THREADS_ARE_NOT_TAKEN)

#include <malloc.h>
#include <sys/mman.h>

// Memory that is freed: what is there next is another lock, though it has the same address, and who uses it is in no
// race with who used it before.

/// A larger object is taken for what it is not: the number before an object that is in no block of its own.
#define MOST_FORGOTTEN ((size_t)1 << 24)

/// The size of the block that begins at the object, from the allocator's number before it; 0 if that is none.
///
/// An optimised build may have an object in the memory of a task, in the middle of a block. `malloc_usable_size` would
/// look, behind as many bytes as what is there says, for the next block.
static size_t size_before(const void *object) {
  size_t size = ((const size_t *)object)[-1] & ~(size_t)7;
  return size % 16 == 0 && size > 16 && size <= MOST_FORGOTTEN ? size - sizeof(size_t) : 0;
}

void taken_forget(const void *object) { race_forget((uintptr_t)object, size_before(object)); }

/// Has a block start anew, however large, whose address came from the allocator.
static void forget_block(void *block) { race_forget((uintptr_t)block, malloc_usable_size(block)); }

typedef void free_function(void *);

TAKEN void free(void *memory) {
  if (taken_keep_given_back(memory, HERE)) return;
  static free_function *original;
  static _Thread_local bool is_looking_up;
  free_function *found = __atomic_load_n(&original, __ATOMIC_RELAXED);
  if (!found) {
    // Who looks up the name may free something meanwhile: a few bytes, once.
    if (is_looking_up) return;
    is_looking_up = true;
    __atomic_store_n(&original, found = (free_function *)taken_original("free"), __ATOMIC_RELAXED);
    is_looking_up = false;
  }
  if (memory && __builtin_expect(__atomic_load_n(&addresses_known, __ATOMIC_RELAXED) != 0, 0)) {
    memory_freed((uintptr_t)memory, malloc_usable_size(memory));
  }
  if (memory && ARE_RACES_LOOKED_FOR) forget_block(memory);
  if (memory && ARE_TOUCHES_NOTED) touch_forget((uintptr_t)memory, malloc_usable_size(memory));
  found(memory);
}

typedef void *realloc_function(void *, size_t);

TAKEN void *realloc(void *memory, size_t size) {
  // The library frees where it moves what is there, by itself.
  if (memory && ARE_RACES_LOOKED_FOR) forget_block(memory);
  if (memory && ARE_TOUCHES_NOTED) touch_forget((uintptr_t)memory, malloc_usable_size(memory));
  return ORIGINAL("realloc", realloc_function *)(memory, size);
}

typedef int unmap_function(void *, size_t);

TAKEN int munmap(void *memory, size_t size) {
  // Only for code under study: the search for races unmaps tables of its own, and has its lock meanwhile.
  if (IS_ORDER_NOTED && is_under_study(HERE)) race_forget((uintptr_t)memory, size);
  return ORIGINAL("munmap", unmap_function *)(memory, size);
}

#endif
