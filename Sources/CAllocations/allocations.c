// Counts allocations by standing in front of the C library's allocator.
//
// A program's own definition of malloc takes precedence over the library's for everything in the
// process, the Swift runtime included, so this needs no preloading and no tracing. The functions pass
// every call on to glibc, whose own names for them start with __libc_. C, because Swift cannot define
// a function that its own runtime calls before it is up.

#include "CAllocations.h"

#include <stdatomic.h>
#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(__linux__)
#include <features.h>
#endif

#if defined(__GLIBC__)
#include <malloc.h>

int64_t heap_bytes_in_use(void) {
  struct mallinfo2 information = mallinfo2();
  return (int64_t)(information.uordblks + information.hblkhd);
}
#else
int64_t heap_bytes_in_use(void) { return -1; }
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static _Atomic bool counting;
static _Atomic uint64_t counted;
static _Atomic uint64_t counted_bytes;

static inline void note(size_t size) {
  if (atomic_load_explicit(&counting, memory_order_relaxed)) {
    atomic_fetch_add_explicit(&counted, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counted_bytes, size, memory_order_relaxed);
  }
}

void *malloc(size_t size) {
  note(size);
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  // Where the product overflows, nothing is allocated.
  note(count * size);
  return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
  note(size);
  return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
  note(size);
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  note(size);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  // EINVAL and ENOMEM, spelled out so that errno stays untouched, as the standard asks.
  if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return 22;
  note(size);
  *block = __libc_memalign(alignment, size);
  return *block ? 0 : 12;
}

bool allocations_can_be_counted(void) { return true; }
void allocations_count(bool on) { atomic_store_explicit(&counting, on, memory_order_relaxed); }
uint64_t allocations_counted(void) {
  return atomic_load_explicit(&counted, memory_order_relaxed);
}
uint64_t allocations_counted_bytes(void) {
  return atomic_load_explicit(&counted_bytes, memory_order_relaxed);
}

#else

bool allocations_can_be_counted(void) { return false; }
void allocations_count(bool on) { (void)on; }
uint64_t allocations_counted(void) { return 0; }
uint64_t allocations_counted_bytes(void) { return 0; }

#endif
