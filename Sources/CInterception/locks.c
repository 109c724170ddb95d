#define _GNU_SOURCE
#define KIND_TOUCHED touch_of_lock
#include "Taken.h"

#ifndef NOTHING_IS_TAKEN

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <time.h>

// The locks of threads. Explored, who would wait stands until the lock is free, and then takes the real one; a
// thread that is not explored may have that, and is waited for on the thread.

/// Stands before the lock is released, where somebody may try to take it meanwhile: that it is taken shows.
static void stand_before_release(uintptr_t lock) {
  bool were_open = points_close();
  bool stands = exploration_answers.stands_before_release(lock);
  points_reopen(were_open);
  if (stands) exploration_pause(point_go_on, 0);
}

void taken_stand_before_release(uintptr_t lock) { stand_before_release(lock); }

// MARK: pthread_mutex

typedef int mutex_function(pthread_mutex_t *);
typedef int mutex_time_function(pthread_mutex_t *, const struct timespec *);

static bool is_recursive(const pthread_mutex_t *mutex) {
  int kind = mutex->__data.__kind & 3;
  return kind == PTHREAD_MUTEX_RECURSIVE || kind == PTHREAD_MUTEX_ERRORCHECK;
}

/// Whether the thread has it and may ask for it again, which changes nothing for others.
static bool is_taken_again(const pthread_mutex_t *mutex) {
  return is_recursive(mutex) && mutex->__data.__owner == (int)own_thread_number();
}

/// Whether a call that came back so has left the lock with the caller: also one whose owner has ended.
static bool is_had(int result) { return result == 0 || result == EOWNERDEAD; }

/// Takes a lock of Foundation's own for a thread that is explored: no point, but where another one has it, who may be
/// paused in the middle, it is waited for as any other.
///
/// What is due comes here, too, unless it holds another such lock: work that was given to a queue may begin before
/// Foundation is called again.
static int lock_inside(pthread_mutex_t *mutex, mutex_function *original) {
  if (explored_thread.due && !explored_thread.held_inside) exploration_pause(explored_thread.due, 0);
  int result = ORIGINAL("pthread_mutex_trylock", mutex_function *)(mutex);
  if (result == EBUSY && !is_taken_again(mutex)) {
    exploration_pause(point_lock, (uintptr_t)mutex);
    result = original(mutex);
  } else if (result == 0) {
    bool were_open = points_close();
    exploration_answers.note_lock((uintptr_t)mutex);
    points_reopen(were_open);
  } else {
    result = original(mutex);
  }
  if (result == 0) {
    explored_thread.held_inside++;
    ACQUIRE(mutex);
  }
  return result;
}

TAKEN int pthread_mutex_lock(pthread_mutex_t *mutex) {
  mutex_function *original = ORIGINAL("pthread_mutex_lock", mutex_function *);
  if (IS_EXPLORED && !is_taken_again(mutex)) {
    if (IS_MUTEX_OF_STUDY) {
      exploration_pause(point_lock, (uintptr_t)mutex);
    } else if (is_of_foundation(HERE)) {
      return lock_inside(mutex, original);
    }
  }
  int result = original(mutex);
  if (is_had(result) && !is_of_types(HERE)) ACQUIRE(mutex);
  return result;
}

TAKEN int pthread_mutex_trylock(pthread_mutex_t *mutex) {
  mutex_function *original = ORIGINAL("pthread_mutex_trylock", mutex_function *);
  if (IS_EXPLORED && IS_MUTEX_OF_STUDY && !is_taken_again(mutex)
      && !exploration_pause(point_try_lock, (uintptr_t)mutex)) {
    return EBUSY;
  }
  int result = original(mutex);
  if (is_had(result)) ACQUIRE(mutex);
  return result;
}

/// The time is over if it is not free at once: how long another holds it is not the clock's affair.
TAKEN int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *time) {
  mutex_time_function *original = ORIGINAL("pthread_mutex_timedlock", mutex_time_function *);
  if (IS_EXPLORED && IS_MUTEX_OF_STUDY && !is_taken_again(mutex)) {
    if (!exploration_pause(point_try_lock, (uintptr_t)mutex)) return ETIMEDOUT;
    int result = ORIGINAL("pthread_mutex_lock", mutex_function *)(mutex);
    ACQUIRE(mutex);
    return result;
  }
  return original(mutex, time);
}

TAKEN int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  mutex_function *original = ORIGINAL("pthread_mutex_unlock", mutex_function *);
  bool is_of_study = IS_EXPLORED && IS_MUTEX_OF_STUDY;
  // Of a lock inside of Foundation it is noted that it is free, without a point.
  if (!is_of_study && !(IS_EXPLORED && is_of_foundation(HERE))) {
    if (!is_of_types(HERE)) RELEASE(mutex);
    return original(mutex);
  }
  // Of most kinds the system does not look who has it: whoever has taken it since is alone no more.
  if (is_of_study && !is_recursive(mutex) && !taken_lock_is_locked((uintptr_t)mutex)) {
    taken_end_program("pthread_mutex_unlock", EPERM);
  }
  bool is_last = !is_recursive(mutex) || mutex->__data.__count <= 1;
  if (is_last && is_of_study) stand_before_release((uintptr_t)mutex);
  RELEASE(mutex);
  int result = original(mutex);
  if (result == 0 && is_last) {
    if (!is_of_study && explored_thread.held_inside) explored_thread.held_inside--;
    bool were_open = points_close();
    exploration_answers.note_release((uintptr_t)mutex);
    // Foundation may ask for it again at once, and again, until who waits for it here has gone on.
    bool must_pause = !is_of_study && exploration_answers.must_let_others_take((uintptr_t)mutex);
    points_reopen(were_open);
    if (must_pause) exploration_pause(point_go_on, 0);
  }
  return result;
}

// MARK: pthread_cond

typedef int condition_function(pthread_cond_t *);
typedef int wait_function(pthread_cond_t *, pthread_mutex_t *);
typedef int time_wait_function(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

/// The version of a function that programs are linked with today: there is one before it.
static void *condition_original(const char *name) {
  void *found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
  return found ? found : taken_original(name);
}

#define CONDITION_ORIGINAL(name, type)                                                                      \
  ({                                                                                                        \
    static void *original;                                                                                  \
    void *found = __atomic_load_n(&original, __ATOMIC_RELAXED);                                             \
    if (!found) __atomic_store_n(&original, found = condition_original(name), __ATOMIC_RELAXED);            \
    (type) found;                                                                                           \
  })

#define NANOSECONDS 1000000000

/// What a wait takes at least that ends by its limit: the numbers in which code counts time are not exact, and who
/// waits again until the time has come for certain would do so for ever.
#define SHORTEST_WAIT 1000

static int64_t limited(__int128 time) {
  return time < SHORTEST_WAIT ? SHORTEST_WAIT : time > INT64_MAX ? INT64_MAX : (int64_t)time;
}

/// Notes how long the wait may last that comes next.
static void limit_wait(int64_t time) {
  bool were_open = points_close();
  exploration_answers.limit_wait(time);
  points_reopen(were_open);
}

int64_t taken_time_until(uint64_t time) {
  // A time of Dispatch is one of the world's clock if both of its upper bits are set, and negative then; else one of
  // the clock that goes on while the machine sleeps if the first is, or of the one that does not.
  struct timespec now;
  bool is_of_the_world = time >> 62 == 3;
  clock_gettime(is_of_the_world ? CLOCK_REALTIME : time >> 63 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, &now);
  int64_t until = is_of_the_world ? -(int64_t)time : (int64_t)(time & ~(1ull << 63));
  return limited(until - ((__int128)now.tv_sec * NANOSECONDS + now.tv_nsec));
}

void taken_limit_wait(uint64_t time) {
  if (time != all_time && time != no_time) limit_wait(taken_time_until(time));
}

void taken_limit_wait_until(clockid_t clock, const struct timespec *time) {
  struct timespec now;
  clock_gettime(clock, &now);
  limit_wait(limited(((__int128)time->tv_sec - now.tv_sec) * NANOSECONDS + time->tv_nsec - now.tv_nsec));
}

/// Waits in the exploration; whether there was a signal in time.
static bool wait_explored(pthread_cond_t *condition, pthread_mutex_t *mutex, uint8_t point) {
  // A signal may come between what was looked at under the lock and the wait, from who signals without the lock.
  exploration_pause(point_begin_wait, (uintptr_t)condition);
  bool were_open = points_close();
  exploration_answers.begin_wait((uintptr_t)condition, (uintptr_t)mutex);
  points_reopen(were_open);
  RELEASE(mutex);
  ORIGINAL("pthread_mutex_unlock", mutex_function *)(mutex);
  bool is_signalled = exploration_pause(point, (uintptr_t)condition);
  exploration_pause(point_lock, (uintptr_t)mutex);
  ORIGINAL("pthread_mutex_lock", mutex_function *)(mutex);
  ACQUIRE(mutex);
  return is_signalled;
}

/// Whether a wait or a signal is explored: that of code under study, or of what it calls of Foundation. An `Operation`
/// waits for another one so.
#define IS_WAIT_EXPLORED (IS_EXPLORED && (is_of_foundation(HERE) || IS_CALLED_BY_STUDY))

TAKEN int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  wait_function *original = CONDITION_ORIGINAL("pthread_cond_wait", wait_function *);
  if (!IS_WAIT_EXPLORED) return original(condition, mutex);
  wait_explored(condition, mutex, point_wait);
  // A thread that was let go of has no signal yet.
  return explored_thread.is_let_go ? original(condition, mutex) : 0;
}

TAKEN int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
  const struct timespec *time) {
  time_wait_function *original = CONDITION_ORIGINAL("pthread_cond_timedwait", time_wait_function *);
  if (!IS_WAIT_EXPLORED) return original(condition, mutex, time);
  // The bit says by which clock the condition counts.
  taken_limit_wait_until(condition->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME, time);
  return wait_explored(condition, mutex, point_wait_a_while) ? 0 : ETIMEDOUT;
}

typedef int clock_wait_function(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);

TAKEN int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
  const struct timespec *time) {
  if (!IS_WAIT_EXPLORED) {
    return ORIGINAL("pthread_cond_clockwait", clock_wait_function *)(condition, mutex, clock, time);
  }
  taken_limit_wait_until(clock, time);
  return wait_explored(condition, mutex, point_wait_a_while) ? 0 : ETIMEDOUT;
}

/// Notes a signal, on a thread that is not explored: nobody who is explored hears it.
static void note_outside(const pthread_cond_t *condition) {
  if (!IS_EXPLORED && exploration_is_under_way()) signal_from_outside((uintptr_t)condition);
}

TAKEN int pthread_cond_signal(pthread_cond_t *condition) {
  condition_function *original = CONDITION_ORIGINAL("pthread_cond_signal", condition_function *);
  note_outside(condition);
  if (IS_WAIT_EXPLORED) exploration_pause(point_signal, (uintptr_t)condition);
  return original(condition);
}

TAKEN int pthread_cond_broadcast(pthread_cond_t *condition) {
  condition_function *original = CONDITION_ORIGINAL("pthread_cond_broadcast", condition_function *);
  note_outside(condition);
  if (IS_WAIT_EXPLORED) exploration_pause(point_broadcast, (uintptr_t)condition);
  return original(condition);
}

// MARK: pthread_rwlock

typedef int shared_function(pthread_rwlock_t *);

/// Where readers release, whom only a writer waits for.
#define READERS(lock) ((uintptr_t)(lock) + 4)

/// Whether the thread has the lock to write: it is told so when it asks again, and does not wait.
static bool is_written_here(const pthread_rwlock_t *lock) {
  return lock->__data.__cur_writer == (int)own_thread_number();
}

/// Whether the call, which is made from `HERE`, is explored.
#define IS_SHARED_EXPLORED(lock) (IS_EXPLORED && IS_CALLED_BY_STUDY && !is_written_here(lock))

#define SHARED(name, point)                                                                                 \
  TAKEN int pthread_rwlock_##name(pthread_rwlock_t *lock) {                                                 \
    shared_function *original = ORIGINAL("pthread_rwlock_" #name, shared_function *);                       \
    if (IS_SHARED_EXPLORED(lock) && !exploration_pause(point, (uintptr_t)lock)) return EBUSY;               \
    int result = original(lock);                                                                            \
    if (result == 0) ACQUIRE(lock);                                                                         \
    if (result == 0 && point == point_try_lock) ACQUIRE(READERS(lock));                                     \
    return result;                                                                                          \
  }

SHARED(rdlock, point_read_lock)
SHARED(tryrdlock, point_try_read_lock)
SHARED(trywrlock, point_try_lock)

/// Of most kinds a reader overtakes the writers that wait; of this one, none does.
static bool prefers_writers(const pthread_rwlock_t *lock) {
  return lock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

static void note_writer(pthread_rwlock_t *lock, bool waits) {
  bool were_open = points_close();
  exploration_answers.note_writer((uintptr_t)lock, waits);
  points_reopen(were_open);
}

TAKEN int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
  shared_function *original = ORIGINAL("pthread_rwlock_wrlock", shared_function *);
  if (IS_SHARED_EXPLORED(lock)) {
    if (!prefers_writers(lock)) {
      exploration_pause(point_lock, (uintptr_t)lock);
    } else if (!exploration_pause(point_try_lock, (uintptr_t)lock)) {
      // It has come, and waits: from now on it shows.
      note_writer(lock, true);
      exploration_pause(point_lock, (uintptr_t)lock);
      note_writer(lock, false);
    }
  }
  int result = original(lock);
  if (result == 0) {
    ACQUIRE(lock);
    ACQUIRE(READERS(lock));
  }
  return result;
}

TAKEN int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
  shared_function *original = ORIGINAL("pthread_rwlock_unlock", shared_function *);
  if (IS_EXPLORED && IS_CALLED_BY_STUDY) {
    // In the lowest bits it says who may be next.
    bool is_read = lock->__data.__readers >> 3 != 0;
    if (!is_read && lock->__data.__cur_writer == 0) taken_end_program("pthread_rwlock_unlock", EPERM);
    stand_before_release((uintptr_t)lock);
  }
  if (is_written_here(lock)) RELEASE(lock); else RELEASE(READERS(lock));
  if (!IS_EXPLORED || !IS_CALLED_BY_STUDY) return original(lock);
  int result = original(lock);
  bool were_open = points_close();
  exploration_answers.note_shared_release((uintptr_t)lock);
  points_reopen(were_open);
  return result;
}

// MARK: Synchronization.Mutex

// What is called where the comparison in the caller's own code has failed: see `atomics.c`.

#define SELF __attribute__((swift_context))
typedef void __attribute__((swiftcall)) lock_slow_function(uint32_t, SELF void *);
typedef void __attribute__((swiftcall)) unlock_slow_function(SELF void *);
typedef bool __attribute__((swiftcall)) try_lock_slow_function(SELF void *);

TAKEN __attribute__((swiftcall)) void taken_lock_slow(uint32_t number, SELF void *mutex)
  __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
__attribute__((swiftcall)) void taken_lock_slow(uint32_t number, SELF void *mutex) {
  lock_slow_function *original =
    ORIGINAL("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF", lock_slow_function *);
  if (IS_EXPLORED && is_under_study(HERE)) {
    bool were_open = points_close();
    bool holds = exploration_answers.holds((uintptr_t)mutex);
    points_reopen(were_open);
    // It paused at the comparison already, and a thread that is not explored has the lock.
    if (!holds) exploration_pause(point_lock, (uintptr_t)mutex);
    uint32_t free = 0;
    if (__atomic_compare_exchange_n((uint32_t *)mutex, &free, number, false, __ATOMIC_SEQ_CST,
          __ATOMIC_SEQ_CST)) {
      TAKE(mutex);
      return;
    }
  }
  original(number, mutex);
  TAKE(mutex);
}

TAKEN __attribute__((swiftcall)) bool taken_try_lock_slow(SELF void *mutex)
  __asm__("$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
__attribute__((swiftcall)) bool taken_try_lock_slow(SELF void *mutex) {
  try_lock_slow_function *original =
    ORIGINAL("$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF", try_lock_slow_function *);
  // The comparison was the try, and it has failed.
  if (IS_EXPLORED && is_under_study(HERE)) return false;
  return original(mutex);
}

TAKEN __attribute__((swiftcall)) void taken_unlock_slow(SELF void *mutex)
  __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
__attribute__((swiftcall)) void taken_unlock_slow(SELF void *mutex) {
  unlock_slow_function *original =
    ORIGINAL("$s15Synchronization12_MutexHandleV11_unlockSlowyyF", unlock_slow_function *);
  RELEASE(mutex);
  original(mutex);
  if (!IS_EXPLORED || !is_under_study(HERE)) return;
  bool were_open = points_close();
  exploration_answers.note_release((uintptr_t)mutex);
  points_reopen(were_open);
}

/// Whether the first word of the lock says that somebody has it.
///
/// That of a `pthread_rwlock_t` also says so when nobody has it and a writer was the last who did. Where the owner of
/// a robust mutex has ended, the kernel has put a sign in the place of its number.
bool taken_lock_is_locked(uintptr_t lock) {
  uint32_t word = __atomic_load_n((const uint32_t *)lock, __ATOMIC_ACQUIRE);
  return word != 0 && (word & ~FUTEX_WAITERS) != FUTEX_OWNER_DIED;
}

#endif
