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
// `pthread_setspecific`) was destroyed too: that is the code's own, and may come to points.

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int join_function(pthread_t, void **);

struct started {
  void *(*start)(void *);
  void *given;
  /// What the exploration knows the thread by.
  void *known;
  /// How often what the thread keeps for itself was gone through at its end.
  int rounds;
};

static pthread_key_t last;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/// Comes last of all that the thread keeps: the system goes through it so often, as long as there is something.
static void end(void *given) {
  struct started *me = given;
  if (++me->rounds < PTHREAD_DESTRUCTOR_ITERATIONS && pthread_setspecific(last, me) == 0) return;
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
  exploration_answers.begin_thread(me->known);
  return me->start(me->given);
}

/// Whether Foundation makes the thread for a `Thread`, and not for work of its own.
static bool is_of_foundations_thread(uintptr_t address) {
  uintptr_t function = (uintptr_t)dlsym(RTLD_DEFAULT, "_CFThreadCreate");
  return function && address > function && address - function < 128;
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
  *started = (struct started){start, given, exploration_answers.make_thread(is_foundations), 0};
  int result = original(thread, attributes, begin, started);
  exploration_answers.name_thread(started->known, result == 0 ? (uintptr_t)*thread : 0);
  if (result != 0) free(started);
  points_reopen(were_open);
  if (result != 0) return result;
  void *known = started->known;
  exploration_pause(point_start, (uintptr_t)*thread);
  were_open = points_close();
  exploration_answers.start_thread(known);
  points_reopen(were_open);
  // The thread may be over before who started it goes on.
  points_are_due(point_go_on);
  return 0;
}

TAKEN int pthread_join(pthread_t thread, void **result) {
  join_function *original = ORIGINAL("pthread_join", join_function *);
  if (!IS_EXPLORED) return original(thread, result);
  bool were_open = points_close();
  bool is_known = exploration_answers.knows_thread((uintptr_t)thread);
  points_reopen(were_open);
  if (is_known) exploration_pause(point_join, (uintptr_t)thread);
  were_open = points_close();
  if (is_known) exploration_answers.note_join((uintptr_t)thread);
  points_reopen(were_open);
  return original(thread, result);
}

#endif
