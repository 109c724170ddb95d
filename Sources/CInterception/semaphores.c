#define _GNU_SOURCE
#define KIND_TOUCHED touch_of_lock
#include "Taken.h"

#ifndef NOTHING_IS_TAKEN

#include <errno.h>
#include <semaphore.h>
#include <stdint.h>

// Semaphores on which threads wait. Explored, who would wait stands until there is a permit, and then takes the real
// one.

// MARK: DispatchSemaphore

typedef intptr_t semaphore_wait_function(void *, uint64_t);
typedef intptr_t semaphore_signal_function(void *);

static bool has_permit_of_dispatch(uintptr_t semaphore) {
  if (ORIGINAL("dispatch_semaphore_wait", semaphore_wait_function *)((void *)semaphore, no_time) != 0) {
    return false;
  }
  ORIGINAL("dispatch_semaphore_signal", semaphore_signal_function *)((void *)semaphore);
  return true;
}

TAKEN intptr_t dispatch_semaphore_wait(void *semaphore, uint64_t time) {
  semaphore_wait_function *original = ORIGINAL("dispatch_semaphore_wait", semaphore_wait_function *);
  if (!IS_EXPLORED) return original(semaphore, time);
  uint8_t point = time == no_time    ? point_try_permit
                  : time == all_time ? point_take_permit
                                     : point_take_permit_in_time;
  bool were_open;
  taken_limit_wait(time);
  exploration_pause(point, (uintptr_t)semaphore);
  were_open = points_close();
  // Who waits without end paused until there was one.
  intptr_t result = original(semaphore, time == all_time ? all_time : no_time);
  points_reopen(were_open);
  if (result == 0) ACQUIRE(DISPATCH_ORDER(semaphore));
  return result;
}

TAKEN intptr_t dispatch_semaphore_signal(void *semaphore) {
  semaphore_signal_function *original =
    ORIGINAL("dispatch_semaphore_signal", semaphore_signal_function *);
  if (IS_EXPLORED) exploration_pause(point_give_permit, (uintptr_t)semaphore);
  RELEASE(DISPATCH_ORDER(semaphore));
  return original(semaphore);
}

// MARK: sem_t

typedef int posix_function(sem_t *);
typedef int posix_time_function(sem_t *, const struct timespec *);
typedef int posix_clock_function(sem_t *, clockid_t, const struct timespec *);

/// What such a semaphore is known by: nothing of Dispatch has an odd address.
#define POSIX(semaphore) ((uintptr_t)(semaphore) + 1)

static bool has_permit_of_posix(uintptr_t known) {
  int value = 0;
  return sem_getvalue((sem_t *)(known - 1), &value) != 0 || value > 0;
}

bool taken_semaphore_has_permit(uintptr_t semaphore) {
  return semaphore & 1 ? has_permit_of_posix(semaphore) : has_permit_of_dispatch(semaphore);
}

#define IS_SEMAPHORE_EXPLORED (IS_EXPLORED && IS_CALLED_BY_STUDY)

TAKEN int sem_wait(sem_t *semaphore) {
  posix_function *original = ORIGINAL("sem_wait", posix_function *);
  if (!IS_SEMAPHORE_EXPLORED) return original(semaphore);
  exploration_pause(point_take_permit, POSIX(semaphore));
  int result = original(semaphore);
  if (result == 0) ACQUIRE(semaphore);
  return result;
}

TAKEN int sem_trywait(sem_t *semaphore) {
  posix_function *original = ORIGINAL("sem_trywait", posix_function *);
  if (!IS_SEMAPHORE_EXPLORED) return original(semaphore);
  exploration_pause(point_try_permit, POSIX(semaphore));
  int result = original(semaphore);
  if (result == 0) ACQUIRE(semaphore);
  return result;
}

/// Waits until the time has come, explored: there is a permit then, or none.
static int wait_until(sem_t *semaphore, clockid_t clock, const struct timespec *time) {
  taken_limit_wait_until(clock, time);
  exploration_pause(point_take_permit_in_time, POSIX(semaphore));
  int result = ORIGINAL("sem_trywait", posix_function *)(semaphore);
  if (result == 0) ACQUIRE(semaphore);
  if (result != 0 && errno == EAGAIN) errno = ETIMEDOUT;
  return result;
}

TAKEN int sem_timedwait(sem_t *semaphore, const struct timespec *time) {
  posix_time_function *original = ORIGINAL("sem_timedwait", posix_time_function *);
  return IS_SEMAPHORE_EXPLORED ? wait_until(semaphore, CLOCK_REALTIME, time) : original(semaphore, time);
}

TAKEN int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *time) {
  posix_clock_function *original = ORIGINAL("sem_clockwait", posix_clock_function *);
  return IS_SEMAPHORE_EXPLORED ? wait_until(semaphore, clock, time) : original(semaphore, clock, time);
}

TAKEN int sem_post(sem_t *semaphore) {
  posix_function *original = ORIGINAL("sem_post", posix_function *);
  if (IS_SEMAPHORE_EXPLORED) exploration_pause(point_give_permit, POSIX(semaphore));
  RELEASE(semaphore);
  return original(semaphore);
}

#endif
