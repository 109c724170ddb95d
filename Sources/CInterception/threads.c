#include "Taken.h"

#if !defined(NOTHING_IS_TAKEN) && !defined(MEMORY_AND_THREADS_ARE_NOT_TAKEN)

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

// Threads that the code under study starts, by itself or as a `Thread` of Foundation.
//
// Such a thread is one of the system's, with its own stack and its own variables. It waits until its first turn has
// come, and from then on it is an agent like any other. It has ended when what it keeps for itself (values of
// `pthread_setspecific`) was destroyed too: that is the code's own, and may come to points. It is not cancelled: its
// waits are the exploration's, and are not left from in the middle.

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef void object_function(void *);
typedef int join_function(pthread_t, void **);

struct started {
  void *(*start)(void *);
  void *given;
  /// What the exploration knows the thread by.
  void *known;
  /// Foundation's `Thread`, which is kept until the thread has ended; null where there is none.
  void *object;
  /// How often what the thread keeps for itself was gone through at its end.
  int rounds;
};

static pthread_key_t last;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/// Ends the thread in the last round in which the system destroys what the thread keeps, so that what else it keeps
/// is destroyed before: the system begins another round while something is left, up to so many.
static void end(void *given) {
  struct started *me = given;
  if (++me->rounds < PTHREAD_DESTRUCTOR_ITERATIONS && pthread_setspecific(last, me) == 0) return;
  if (me->object) ORIGINAL("swift_release", object_function *)(me->object);
  // What the system does yet to end the thread is nobody's step.
  points_end();
  exploration_answers.end_thread(me->known);
  free(me);
}

static void make_key(void) {
  if (pthread_key_create(&last, end) != 0) abort();
}

static void *begin(void *given) {
  struct started *me = given;
  if (pthread_setspecific(last, me) != 0) abort();
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  exploration_answers.begin_thread(me->known);
  return me->start(me->given);
}

/// Whether Foundation makes the thread for a `Thread`, and not for work of its own.
static bool is_of_foundations_thread(uintptr_t address) {
  uintptr_t function = (uintptr_t)dlsym(RTLD_DEFAULT, "_CFThreadCreate");
  return function && address > function && address - function < 128;
}

/// What the exploration needs of a stack, besides the code under study.
#define ROOM ((size_t)1 << 17)

/// Whether the thread can be joined; makes room on its stack where it is to have a small one.
static bool prepare(pthread_attr_t *attributes) {
  size_t size;
  void *stack;
  // Nothing to add to where the stack is of the usual size, or is the code's own.
  if (pthread_attr_getstack(attributes, &stack, &size) == 0 && size > 0 && size < 2 * ROOM
      && (uintptr_t)stack + size == 0) {
    pthread_attr_setstacksize(attributes, size + ROOM);
  }
  int state;
  return pthread_attr_getdetachstate(attributes, &state) != 0 || state == PTHREAD_CREATE_JOINABLE;
}

TAKEN int pthread_create(
  pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *given) {
  create_function *original = ORIGINAL("pthread_create", create_function *);
  if (!IS_EXPLORED) return original(thread, attributes, start, given);
  bool is_foundations = is_of_foundations_thread(HERE);
  if (!is_foundations && !is_under_study(HERE)) {
    if (ARE_TOUCHES_NOTED) touch_everything(touch_of_step);
    if (is_of_foundation(HERE)) {
      bool were_open = points_close();
      exploration_answers.note_unseen("pthread_create");
      points_reopen(were_open);
    }
    return original(thread, attributes, start, given);
  }
  bool were_open = points_close();
  pthread_once(&once, make_key);
  struct started *started = malloc(sizeof *started);
  if (!started) abort();
  void *object = is_foundations ? given : NULL;
  if (object) ORIGINAL("swift_retain", object_function *)(object);
  *started = (struct started){start, given, exploration_answers.make_thread(object), object, 0};
  pthread_attr_t own;
  if (attributes) own = *attributes;
  bool is_joinable = !attributes || prepare(&own);
  int result = original(thread, attributes ? &own : NULL, begin, started);
  exploration_answers.name_thread(started->known, result == 0 ? (uintptr_t)*thread : 0, is_joinable);
  if (result != 0) {
    if (object) ORIGINAL("swift_release", object_function *)(object);
    free(started);
    points_reopen(were_open);
    return result;
  }
  points_reopen(were_open);
  void *known = started->known;
  exploration_pause(point_start, (uintptr_t)*thread);
  were_open = points_close();
  exploration_answers.start_thread(known);
  points_reopen(were_open);
  // The thread may be over before who started it goes on, be it to what no instrumented code does.
  exploration_pause(point_go_on, 0);
  return 0;
}

TAKEN int pthread_join(pthread_t thread, void **result) {
  join_function *original = ORIGINAL("pthread_join", join_function *);
  if (!IS_EXPLORED) return original(thread, result);
  bool were_open = points_close();
  // Who may not wait for it is told so by the system, at once.
  bool may_wait = exploration_answers.may_join((uintptr_t)thread) && !pthread_equal(thread, pthread_self());
  points_reopen(were_open);
  if (may_wait) exploration_pause(point_join, (uintptr_t)thread);
  were_open = points_close();
  if (may_wait) exploration_answers.forget_thread((uintptr_t)thread);
  int found = original(thread, result);
  points_reopen(were_open);
  return found;
}

typedef int detach_function(pthread_t);

TAKEN int pthread_detach(pthread_t thread) {
  detach_function *original = ORIGINAL("pthread_detach", detach_function *);
  if (!IS_EXPLORED) return original(thread);
  bool were_open = points_close();
  exploration_answers.forget_thread((uintptr_t)thread);
  int found = original(thread);
  points_reopen(were_open);
  return found;
}

#endif
