#include "Taken.h"

#ifndef NOTHING_IS_TAKEN

#include <malloc.h>
#include <string.h>

// What instrumented code calls at each access to memory and at each function's beginning and end, after
// `sanitizer/tsan_interface.h` of LLVM.
//
// An access is looked at where races are looked for. None is a point of itself. A point that is due comes at the first
// of them: the runtime's function in which it became due has returned then. Another task whose function begins on the
// thread, in an actor's turn or at once, is one too.

extern void *swift_task_getCurrent(void) __attribute__((swiftcall));

static void enter(uintptr_t here) {
  // Where a whole package is instrumented, the exploration's own code enters here too.
  if (!is_under_study(here)) return;
  explored_thread.is_seen = true;
  // It is the code of a `deinit`, and who has it run is who was the last to let go.
  if (explored_thread.dying && ARE_TOUCHES_NOTED) touch_value(touch_of_owner, 1);
  void *task = swift_task_getCurrent();
  if (task != explored_thread.task) {
    bool is_other = explored_thread.task && task;
    explored_thread.task = task;
    if (is_other && !explored_thread.due) explored_thread.due = point_begin;
  }
  if (explored_thread.due) exploration_pause(explored_thread.due, 0);
}

TAKEN void __tsan_init(void) { __atomic_fetch_add(&instrumented_files, 1, __ATOMIC_RELAXED); }

#define MOST_CALLERS (sizeof explored_thread.callers / sizeof *explored_thread.callers)

TAKEN void __tsan_func_entry(void *caller) {
  if (!IS_EXPLORED) return;
  uint32_t depth = explored_thread.depth++;
  if (depth < MOST_CALLERS) explored_thread.callers[depth] = (uintptr_t)caller;
  enter(HERE);
#ifndef MEMORY_AND_THREADS_ARE_NOT_TAKEN
  // Where a task goes on behind an `await`, it is the runtime that calls.
  if (ARE_RACES_LOOKED_FOR && !is_under_study((uintptr_t)caller)) taken_go_on(explored_thread.task);
#endif
}

TAKEN void __tsan_func_exit(void) {
  if (IS_EXPLORED && explored_thread.depth > 0) explored_thread.depth--;
}

struct race_place taken_place(uintptr_t here) {
  struct race_place place = {.at = {here}};
  uint32_t depth = explored_thread.depth;
  for (uint32_t index = 1; index < PLACES_OF_RACE && depth > 0 && depth <= MOST_CALLERS; index++) {
    place.at[index] = explored_thread.callers[--depth];
  }
  return place;
}

// MARK: Accesses to a variable that nobody else tells of

// The compiler puts the copy of many a value into a function of its own, without the instrumentation: of an optional,
// of a struct with objects in it, of a value whose type a generic class is given. Around it stands the check that
// accesses to one variable do not overlap, which names the variable. So where nothing that lies in the variable was
// told of between the two, it was read or written there, at its first byte; how large it is nobody says.
//
// Not so where the code came to a point meanwhile, or where a lock lies there: to lock it is no write for others.

#define MOST_OPEN 8
/// What lies so far behind the first byte of a variable is taken for a part of it.
#define MOST_OF_VARIABLE ((uintptr_t)256)

struct open_access {
  const void *buffer;
  /// Where in the code it begins: its end may have no line.
  uintptr_t at, place;
  uint32_t points;
  bool is_write, is_seen;
};

static _Thread_local struct open_access opened[MOST_OPEN];
/// How many there are; of more than there is room for, the first are forgotten.
static _Thread_local uint32_t open_accesses;

static void note_seen(uintptr_t at) {
  for (uint32_t index = 0; index < open_accesses; index++) {
    if (at - opened[index].at < MOST_OF_VARIABLE) opened[index].is_seen = true;
  }
}

static void open_access(uintptr_t at, const void *buffer, bool is_write, uintptr_t place) {
  for (uint32_t index = 0; index < open_accesses; index++) {
    if (opened[index].buffer == buffer) open_accesses = index;
  }
  if (open_accesses == MOST_OPEN) {
    memmove(opened, opened + 1, sizeof opened - sizeof *opened);
    open_accesses--;
  }
  opened[open_accesses++] = (struct open_access){
    .buffer = buffer, .at = at, .place = place, .points = explored_thread.points, .is_write = is_write};
}

/// Ends the access with the buffer; whether it is to be noted, as it says.
static bool close_access(const void *buffer, struct open_access *closed) {
  for (uint32_t index = open_accesses; index-- > 0;) {
    if (opened[index].buffer != buffer) continue;
    *closed = opened[index];
    memmove(opened + index, opened + index + 1, (open_accesses - index - 1) * sizeof *opened);
    open_accesses--;
    return !closed->is_seen && closed->points == explored_thread.points && !race_is_order(closed->at);
  }
  return false;
}

/// Whether a variable that is being changed begins there: its old value is read to be let go of, and then replaced.
static bool is_changed(uintptr_t at) {
  for (uint32_t index = 0; index < open_accesses; index++) {
    if (opened[index].at == at && opened[index].is_write) return true;
  }
  return false;
}

/// Notes an access by the code at `here`, after what was due has happened.
static void look(const void *at, size_t size, bool is_write, uintptr_t here) {
  if (!is_under_study(here)) return;
  if (open_accesses) note_seen((uintptr_t)at);
  if (explored_thread.due) exploration_pause(explored_thread.due, 0);
  if (ARE_RACES_LOOKED_FOR && !is_compilers_own((uintptr_t)at)) {
    struct race_place place = taken_place(here);
    race_access((uintptr_t)at, size, is_write || is_changed((uintptr_t)at), IS_ORDER_KNOWN, &place);
  }
}

#define LOOK(at, size, is_write)                                                                            \
  if (IS_EXPLORED && (explored_thread.due || ARE_RACES_LOOKED_FOR)) look(at, size, is_write, HERE)

#define ACCESS(name, size, is_write)                                                                        \
  TAKEN void __tsan_##name(void *at) { LOOK(at, size, is_write); }

#define ACCESSES(size)                                                                                      \
  ACCESS(read##size, size, false)                                                                           \
  ACCESS(write##size, size, true)                                                                           \
  ACCESS(read_write##size, size, true)                                                                      \
  ACCESS(volatile_read##size, size, false)                                                                  \
  ACCESS(volatile_write##size, size, true)

#define UNALIGNED_ACCESSES(size)                                                                            \
  ACCESS(unaligned_read##size, size, false)                                                                 \
  ACCESS(unaligned_write##size, size, true)                                                                 \
  ACCESS(unaligned_read_write##size, size, true)                                                            \
  ACCESS(unaligned_volatile_read##size, size, false)                                                        \
  ACCESS(unaligned_volatile_write##size, size, true)

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
UNALIGNED_ACCESSES(2)
UNALIGNED_ACCESSES(4)
UNALIGNED_ACCESSES(8)
UNALIGNED_ACCESSES(16)
ACCESS(vptr_read, sizeof(void *), false)

TAKEN void __tsan_vptr_update(void **at, void *value) { (void)at, (void)value; }

TAKEN void __tsan_read_range(void *at, unsigned long size) { LOOK(at, size, false); }
TAKEN void __tsan_write_range(void *at, unsigned long size) { LOOK(at, size, true); }

// After `Exclusivity.h` of the runtime.
#define ACCESS_MODIFIES 1
#define ACCESS_IS_TRACKED 32

typedef void begin_access_function(void *, void *, uintptr_t, void *);

TAKEN void swift_beginAccess(void *at, void *buffer, uintptr_t flags, void *place) {
  bool is_noted = IS_ORDER_NOTED && flags & ACCESS_IS_TRACKED && is_under_study(HERE);
  if (is_noted) open_access((uintptr_t)at, buffer, flags & ACCESS_MODIFIES, HERE);
  // The runtime names who called it where two accesses overlap.
  ORIGINAL("swift_beginAccess", begin_access_function *)(at, buffer, flags, place ? place : (void *)HERE);
}

typedef void end_access_function(void *);

TAKEN void swift_endAccess(void *buffer) {
  struct open_access closed;
  // No point either, not even for what is due: there would be steps of which the source says nothing.
  if (open_accesses && close_access(buffer, &closed) && IS_ORDER_NOTED && !is_compilers_own(closed.at)) {
    struct race_place place = taken_place(closed.place);
    race_access(closed.at, 1, closed.is_write, IS_ORDER_KNOWN, &place);
  }
  ORIGINAL("swift_endAccess", end_access_function *)(buffer);
}

// Accesses to the state of a Swift value, as the sanitizer's own kind of object.

TAKEN void *__tsan_external_register_tag(const char *type) { return (void)type, NULL; }
TAKEN void __tsan_external_register_header(void *tag, const char *header) { (void)tag, (void)header; }
TAKEN void __tsan_external_assign_tag(void *at, void *tag) { (void)at, (void)tag; }

TAKEN void __tsan_external_read(void *at, void *caller, void *tag) {
  (void)caller, (void)tag;
  LOOK(at, 1, false);
}

TAKEN void __tsan_external_write(void *at, void *caller, void *tag) {
  (void)caller, (void)tag;
  LOOK(at, 1, true);
}

TAKEN void *__tsan_memcpy(void *to, const void *from, size_t size) {
  LOOK(from, size, false);
  LOOK(to, size, true);
  return memcpy(to, from, size);
}

TAKEN void *__tsan_memmove(void *to, const void *from, size_t size) {
  LOOK(from, size, false);
  LOOK(to, size, true);
  return memmove(to, from, size);
}

TAKEN void *__tsan_memset(void *at, int byte, size_t size) {
  LOOK(at, size, true);
  return memset(at, byte, size);
}

TAKEN void __tsan_ignore_thread_begin(void) {}
TAKEN void __tsan_ignore_thread_end(void) {}
TAKEN void __tsan_acquire(void *at) { ACQUIRE(at); }
TAKEN void __tsan_release(void *at) { RELEASE(at); }

#endif
