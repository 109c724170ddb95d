#define _GNU_SOURCE
#include "Taken.h"
#include <pthread.h>

#if !defined(NOTHING_IS_TAKEN) && !defined(MEMORY_AND_THREADS_ARE_NOT_TAKEN)

// What the language's runtime puts in order, and what instrumented code does not say: tasks and actors, counts of
// references, what is made at its first use, and memory that is used again.

// MARK: Tasks and actors

// What the runtime calls where it has been told that a sanitizer is there: before a job is enqueued and after it has
// begun, where a task ends and where it is awaited, where an actor is entered and left.

extern bool _swift_tsan_enabled __attribute__((weak));
extern void (*_swift_tsan_acquire)(const void *) __attribute__((weak));
extern void (*_swift_tsan_release)(const void *) __attribute__((weak));

/// Whether the thread looks if something has been made that is made at its first use.
///
/// The runtime may lock something for it, which would put all in an order that use what has long been made: their
/// steps, and their accesses.
static _Thread_local bool is_looking_for_made;

// The runtime's own locks and atomics order nothing, in its memory or in what the compiler gives it: it looks up the
// types of generic code under a lock, and all that call `map` or `sorted` would be in an order.
static bool is_for_itself(const void *at) { return is_of_runtime((uintptr_t)at) || is_compilers_own((uintptr_t)at); }

// A task may be resumed before it has come to wait: then it goes on at once, and the runtime acquires nothing. So it
// is kept which of those are made ready that have not begun since.

#define MOST_READY 16
static const void *ready[MOST_READY];
static unsigned ready_count;

static bool forget_ready(const void *task) {
  for (unsigned index = 0; index < ready_count; index++) {
    if (ready[index] != task) continue;
    ready[index] = ready[--ready_count];
    return true;
  }
  return false;
}

static void note_ready(const void *task) {
  if (ready_count == MOST_READY) forget_ready(ready[0]);
  ready[ready_count++] = task;
}

void taken_go_on(const void *task) {
  if (ready_count && forget_ready(task)) race_acquire((uintptr_t)task);
}

static void acquire(const void *at) {
  if (is_looking_for_made || is_for_itself(at)) return;
  if (IS_ORDER_NOTED) forget_ready(at);
  TOUCH(at, false);
  if (IS_ORDER_NOTED) race_acquire((uintptr_t)at);
}

static void release(const void *at) {
  if (is_looking_for_made || is_for_itself(at)) return;
  if (IS_EXPLORED && ARE_TOUCHES_NOTED) touch_released((uintptr_t)at);
  if (!IS_ORDER_NOTED) return;
  race_release((uintptr_t)at);
  note_ready(at);
}

// MARK: Counts of references

// Whoever lets go of an object last, or finds that nobody else has it, comes after all who have let go of it. What
// the language's library lets go of inside itself is not seen. So the object's own memory starts anew, too, where
// nobody else has it.

/// By which calls of these are made: it keeps more registers than others do.
#if defined(__aarch64__)
#define COUNT_CALL __attribute__((preserve_most))
#else
#define COUNT_CALL
#endif

typedef void COUNT_CALL release_function(void *object);
typedef void COUNT_CALL release_many_function(void *object, uint32_t count);
typedef bool unique_function(const void *object);

extern size_t swift_retainCount(void *object) __attribute__((weak));

/// Where an object has its count of references.
static uintptr_t count_of(const void *object) { return (uintptr_t)object + 8; }

/// The object without the bits that a bridge keeps in its address; null for what is no object.
static void *plain(const void *object) {
  if ((intptr_t)object <= 0) return NULL;
  return (void *)((uintptr_t)object & 0x0FFFFFFFFFFFFFF8ull);
}

static void note_own(const void *object) {
  race_acquire(count_of(object));
  if (!race_is_on_stack((uintptr_t)object)) taken_forget(object);
}

/// Whether nobody has the object any more.
static __attribute__((noinline)) bool note_letting_go(const void *given, uint32_t count) {
  void *object = plain(given);
  if (!object || !swift_retainCount) return false;
  bool is_last = swift_retainCount(object) <= count;
  if (!ARE_RACES_LOOKED_FOR) return is_last;
  if (is_last) note_own(object); else race_release(count_of(object));
  return is_last;
}

// What an object's `deinit` uses may have been let go of inside the library before, by another task, which nobody
// sees: so its accesses are not judged by those before, only those after it by them.

#define LETTING_GO(name, type, count, ...)                                                                  \
  bool is_last = IS_EXPLORED && (ARE_RACES_LOOKED_FOR || ARE_TOUCHES_NOTED) && note_letting_go(object, count); \
  explored_thread.dying += is_last;                                                                         \
  ORIGINAL(#name, type *)(__VA_ARGS__);                                                                     \
  explored_thread.dying -= is_last

TAKEN COUNT_CALL void swift_release(void *object) {
  LETTING_GO(swift_release, release_function, 1, object);
}

TAKEN COUNT_CALL void swift_release_n(void *object, uint32_t count) {
  LETTING_GO(swift_release_n, release_many_function, count, object, count);
}

TAKEN COUNT_CALL void swift_bridgeObjectRelease(void *object) {
  LETTING_GO(swift_bridgeObjectRelease, release_function, 1, object);
}

TAKEN COUNT_CALL void swift_bridgeObjectRelease_n(void *object, uint32_t count) {
  LETTING_GO(swift_bridgeObjectRelease_n, release_many_function, count, object, count);
}

#define UNIQUE(name)                                                                                        \
  TAKEN bool name(const void *object) {                                                                     \
    unique_function *original = ORIGINAL(#name, unique_function *);                                         \
    bool is_unique = original(object);                                                                      \
    if (is_unique && IS_ORDER_NOTED && plain(object)) note_own(plain(object));                              \
    if (IS_EXPLORED && ARE_TOUCHES_NOTED) touch_value(touch_of_owner, is_unique ? 2 : 3);                   \
    return is_unique;                                                                                       \
  }

UNIQUE(swift_isUniquelyReferenced_native)
UNIQUE(swift_isUniquelyReferenced_nonNull_native)
UNIQUE(swift_isUniquelyReferenced_nonNull_bridgeObject)
UNIQUE(swift_isUniquelyReferencedNonObjC)
UNIQUE(swift_isUniquelyReferencedNonObjC_nonNull)
UNIQUE(swift_isUniquelyReferencedNonObjC_nonNull_bridgeObject)

// Code that is not optimised calls a function of the library, which asks by itself.

typedef __attribute__((swiftcall)) bool known_unique_function(void *reference, const void *type);

#define KNOWN_UNIQUE(name, symbol)                                                                          \
  TAKEN __attribute__((swiftcall)) bool name(void *reference, const void *type) __asm__(symbol);            \
  __attribute__((swiftcall)) bool name(void *reference, const void *type) {                                 \
    bool is_unique = ORIGINAL(symbol, known_unique_function *)(reference, type);                            \
    void *object = is_unique && IS_ORDER_NOTED ? plain(*(void *const *)reference) : NULL;                   \
    if (object) note_own(object);                                                                           \
    if (IS_EXPLORED && ARE_TOUCHES_NOTED) touch_value(touch_of_owner, is_unique ? 2 : 3);                   \
    return is_unique;                                                                                       \
  }

KNOWN_UNIQUE(taken_is_known_unique, "$ss25isKnownUniquelyReferencedySbxzRlzClF")
KNOWN_UNIQUE(taken_is_known_unique_or_none, "$ss25isKnownUniquelyReferencedySbxSgzRlzClF")

// Tasks also learn how many own an object: from whose release runs `deinit`, from a weak reference, and where one
// asks whether another has it. The count is the same in whatever order they came who changed
// it, so that what was found there is all that has to be noted.

typedef void *weak_function(void *reference);

/// Stands before a weak reference is looked at: another may let go of the object, or replace the reference, meanwhile.
static void look_at_weak(void *reference, uintptr_t here) {
  exploration_pause(point_load_weak, 0);
  if (!ARE_RACES_LOOKED_FOR || is_compilers_own((uintptr_t)reference)) return;
  struct race_place place = taken_place(here);
  race_access((uintptr_t)reference, 1, false, IS_ORDER_KNOWN, &place);
}

#define WEAK(name)                                                                                          \
  TAKEN void *name(void *reference) {                                                                       \
    if (IS_EXPLORED && is_under_study(HERE)) look_at_weak(reference, HERE);                                 \
    void *object = ORIGINAL(#name, weak_function *)(reference);                                             \
    if (IS_EXPLORED && ARE_TOUCHES_NOTED) touch_value(touch_of_owner, object ? 4 : 5);                      \
    return object;                                                                                          \
  }

WEAK(swift_weakLoadStrong)
WEAK(swift_weakTakeStrong)

// What lets go of an object inside a library is not seen: of one that is kept as `Any`, or in an array. That it was the
// last to do so shows where the object's own `deinit` gives back the memory.

typedef void deallocate_function(void *object, size_t size, size_t alignment);
typedef __attribute__((swiftcall)) void deallocate_actor_function(void *actor);

static void note_end_of_object(uintptr_t here) {
  if (IS_EXPLORED && ARE_TOUCHES_NOTED && is_under_study(here)) touch_value(touch_of_owner, 1);
}

TAKEN void swift_deallocClassInstance(void *object, size_t size, size_t alignment) {
  note_end_of_object(HERE);
  // An object's memory is not kept.
  PASS_ON(object, ORIGINAL("swift_deallocClassInstance", deallocate_function *)(object, size, alignment));
}

TAKEN __attribute__((swiftcall)) void swift_defaultActor_deallocate(void *actor) {
  note_end_of_object(HERE);
  ORIGINAL("swift_defaultActor_deallocate", deallocate_actor_function *)(actor);
}

void taken_prepare_races(void) {
  static int is_prepared;
  if (__atomic_exchange_n(&is_prepared, 1, __ATOMIC_ACQ_REL)) return;
  if (!&_swift_tsan_acquire || !&_swift_tsan_release || !&_swift_tsan_enabled) return;
  _swift_tsan_acquire = acquire;
  _swift_tsan_release = release;
  __atomic_store_n(&_swift_tsan_enabled, true, __ATOMIC_RELEASE);
}

// MARK: What is made at its first use

typedef void once_function(void *token, void (*make)(void *), void *context);

struct making {
  void *token;
  void (*make)(void *);
  void *context;
  bool is_made;
};

static void make(void *making) {
  struct making *this = making;
  is_looking_for_made = false;
  this->make(this->context);
  is_looking_for_made = true;
  this->is_made = true;
  // Before the runtime lets in who waits for it.
  RELEASE(this->token);
}

TAKEN void swift_once(void *token, void (*first)(void *), void *context) {
  once_function *original = ORIGINAL("swift_once", once_function *);
  if (!IS_EXPLORED || !(ARE_RACES_LOOKED_FOR || ARE_TOUCHES_NOTED)) return original(token, first, context);
  struct making making = {token, first, context, false};
  bool was_looking = is_looking_for_made;
  is_looking_for_made = true;
  original(token, make, &making);
  is_looking_for_made = was_looking;
  if (!making.is_made) ACQUIRE(token);
}

// The same of the system's own, which gives what it calls no context: so that is kept by thread.

typedef int posix_once_function(pthread_once_t *, void (*)(void));

struct posix_making {
  void (*make)(void);
  bool is_made;
};

static _Thread_local struct posix_making *posix_making;

static void make_posix(void) {
  struct posix_making *this = posix_making;
  this->make();
  this->is_made = true;
}

static int make_once(pthread_once_t *once, void (*first)(void), posix_once_function *original) {
  // What is made may make something else at its first use.
  struct posix_making making = {first, false}, *outer = posix_making;
  posix_making = &making;
  int result = original(once, make_posix);
  posix_making = outer;
  if (making.is_made) RELEASE(once); else ACQUIRE(once);
  return result;
}

/// Who comes while it is made waits as for a lock: in the system's own call it would seem to sleep. Else this is no
/// point, for what is made once for the program would be one in the first schedule only.
TAKEN int pthread_once(pthread_once_t *once, void (*first)(void)) {
  posix_once_function *original = ORIGINAL("pthread_once", posix_once_function *);
  if (!IS_EXPLORED) return original(once, first);
  if (!is_under_study(HERE)) {
    return ARE_RACES_LOOKED_FOR || ARE_TOUCHES_NOTED ? make_once(once, first, original) : original(once, first);
  }
  const int is_being_made = 1, is_made = 2;
  int state = __atomic_load_n(once, __ATOMIC_ACQUIRE);
  if (state & is_made) return make_once(once, first, original);
  if (state & is_being_made) {
    exploration_pause(point_lock, (uintptr_t)once);
  } else {
    bool were_open = points_close();
    exploration_answers.note_lock((uintptr_t)once);
    points_reopen(were_open);
  }
  int result = make_once(once, first, original);
  bool were_open = points_close();
  exploration_answers.note_release((uintptr_t)once);
  points_reopen(were_open);
  return result;
}

#endif
