// What the thread sanitizer does not see of a contended `Mutex`: a thread that has to wait takes it, and is woken, inside
// of a library that is not built with the sanitizer, which then calls two threads that hold it one after the other a race
// (a loop of four threads is enough). Loaded ahead of a program that was built with it, this says it where the lock's own
// atomics are.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef __attribute__((swiftcall)) void lock_function(uint32_t, __attribute__((swift_context)) void *);
typedef __attribute__((swiftcall)) void unlock_function(__attribute__((swift_context)) void *);

/// Tells the sanitizer something of a lock, if there is one.
static void tell(const char *what, void *lock) {
  void (*order)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, what);
  if (order) order(lock);
}

__attribute__((swiftcall)) void lock_slow(uint32_t own, __attribute__((swift_context)) void *lock) __asm__(LOCK);

__attribute__((swiftcall)) void lock_slow(uint32_t own, __attribute__((swift_context)) void *lock) {
  static lock_function *original;
  if (!original) original = (lock_function *)dlsym(RTLD_NEXT, LOCK);
  original(own, lock);
  tell("__tsan_acquire", lock);
}

__attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *lock) __asm__(UNLOCK);

__attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *lock) {
  static unlock_function *original;
  if (!original) original = (unlock_function *)dlsym(RTLD_NEXT, UNLOCK);
  tell("__tsan_release", lock);
  original(lock);
}
