#include "Taken.h"

#ifndef NOTHING_IS_TAKEN

#include <string.h>

// What instrumented code calls at each access to memory and at each function's beginning and end, after
// `sanitizer/tsan_interface.h` of LLVM.
//
// None is a point of itself. A point that is due comes at the first of them: the runtime's function in which it
// became due has returned then. Another task whose function begins on the thread, in an actor's turn or at once,
// is one too.

extern void *swift_task_getCurrent(void) __attribute__((swiftcall));

static void go_on(uintptr_t here) {
  if (is_under_study(here)) exploration_stand(explored_thread.due, 0);
}

static void enter(uintptr_t here) {
  // Where a whole package is instrumented, the exploration's own code enters here too.
  if (!is_under_study(here)) return;
  explored_thread.is_seen = true;
  void *task = swift_task_getCurrent();
  if (task != explored_thread.task) {
    bool is_other = explored_thread.task && task;
    explored_thread.task = task;
    if (is_other && !explored_thread.due) explored_thread.due = point_begin;
  }
  if (explored_thread.due) exploration_stand(explored_thread.due, 0);
}

TAKEN void __tsan_init(void) { __atomic_fetch_add(&instrumented_files, 1, __ATOMIC_RELAXED); }

TAKEN void __tsan_func_entry(void *caller) {
  (void)caller;
  if (IS_EXPLORED) enter(HERE);
}

TAKEN void __tsan_func_exit(void) {}

#define ACCESS(name)                                                                                        \
  TAKEN void __tsan_##name(void *at) {                                                                      \
    (void)at;                                                                                               \
    if (IS_EXPLORED && explored_thread.due) go_on(HERE);                                                    \
  }

ACCESS(read1)
ACCESS(read2)
ACCESS(read4)
ACCESS(read8)
ACCESS(read16)
ACCESS(write1)
ACCESS(write2)
ACCESS(write4)
ACCESS(write8)
ACCESS(write16)
ACCESS(read_write1)
ACCESS(read_write2)
ACCESS(read_write4)
ACCESS(read_write8)
ACCESS(read_write16)
ACCESS(unaligned_read2)
ACCESS(unaligned_read4)
ACCESS(unaligned_read8)
ACCESS(unaligned_read16)
ACCESS(unaligned_write2)
ACCESS(unaligned_write4)
ACCESS(unaligned_write8)
ACCESS(unaligned_write16)
ACCESS(unaligned_read_write2)
ACCESS(unaligned_read_write4)
ACCESS(unaligned_read_write8)
ACCESS(unaligned_read_write16)
ACCESS(volatile_read1)
ACCESS(volatile_read2)
ACCESS(volatile_read4)
ACCESS(volatile_read8)
ACCESS(volatile_read16)
ACCESS(volatile_write1)
ACCESS(volatile_write2)
ACCESS(volatile_write4)
ACCESS(volatile_write8)
ACCESS(volatile_write16)
ACCESS(unaligned_volatile_read2)
ACCESS(unaligned_volatile_read4)
ACCESS(unaligned_volatile_read8)
ACCESS(unaligned_volatile_read16)
ACCESS(unaligned_volatile_write2)
ACCESS(unaligned_volatile_write4)
ACCESS(unaligned_volatile_write8)
ACCESS(unaligned_volatile_write16)
ACCESS(vptr_read)

TAKEN void __tsan_vptr_update(void **at, void *value) { (void)at, (void)value; }

TAKEN void __tsan_read_range(void *at, unsigned long size) {
  (void)at, (void)size;
  if (IS_EXPLORED && explored_thread.due) go_on(HERE);
}

TAKEN void __tsan_write_range(void *at, unsigned long size) {
  (void)at, (void)size;
  if (IS_EXPLORED && explored_thread.due) go_on(HERE);
}

// Accesses to the state of a Swift value, as the sanitizer's own kind of object.

TAKEN void *__tsan_external_register_tag(const char *type) { return (void)type, NULL; }
TAKEN void __tsan_external_register_header(void *tag, const char *header) { (void)tag, (void)header; }
TAKEN void __tsan_external_assign_tag(void *at, void *tag) { (void)at, (void)tag; }

TAKEN void __tsan_external_read(void *at, void *caller, void *tag) {
  (void)at, (void)caller, (void)tag;
  if (IS_EXPLORED && explored_thread.due) go_on(HERE);
}

TAKEN void __tsan_external_write(void *at, void *caller, void *tag) {
  (void)at, (void)caller, (void)tag;
  if (IS_EXPLORED && explored_thread.due) go_on(HERE);
}

TAKEN void *__tsan_memcpy(void *to, const void *from, size_t size) { return memcpy(to, from, size); }
TAKEN void *__tsan_memmove(void *to, const void *from, size_t size) { return memmove(to, from, size); }
TAKEN void *__tsan_memset(void *at, int byte, size_t size) { return memset(at, byte, size); }

TAKEN void __tsan_ignore_thread_begin(void) {}
TAKEN void __tsan_ignore_thread_end(void) {}
TAKEN void __tsan_acquire(void *at) { (void)at; }
TAKEN void __tsan_release(void *at) { (void)at; }

#endif
