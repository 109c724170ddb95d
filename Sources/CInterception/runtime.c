#define _GNU_SOURCE
#include "CExplorable.h"
#define KIND_TOUCHED touch_of_cancellation
#include "Taken.h"

#ifndef NOTHING_IS_TAKEN

#include <dlfcn.h>
#include <poll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// What the code under study asks of the runtime of tasks, and of the clock.

// MARK: Hops

/// Two words, of which the first is 0 for the pool.
struct executor {
  uintptr_t identity;
  uintptr_t implementation;
};

extern __attribute__((swiftcall)) struct executor swift_task_getCurrentExecutor(void);

typedef __attribute__((swiftasynccall)) void task_switch_function(
  __attribute__((swift_async_context)) void *, void *, uintptr_t, uintptr_t);

/// A point before a task enters an actor; also where the runtime makes no job of it, for the actor is free.
///
/// Where it leaves one for the pool there is none: what it does there begins with a point of its own.
TAKEN __attribute__((swiftasynccall)) void swift_task_switch(
  __attribute__((swift_async_context)) void *context, void *function, uintptr_t identity,
  uintptr_t implementation) {
  task_switch_function *original = ORIGINAL("swift_task_switch", task_switch_function *);
  // Asynchronous code jumps here: the address to return to is the runtime's, so where it goes on tells whose it is.
  if (IS_EXPLORED) {
    uintptr_t left = swift_task_getCurrentExecutor().identity;
    if (identity != 0 && left != identity && is_under_study((uintptr_t)function)) {
      explored_thread.hop_function = (uintptr_t)function;
      explored_thread.hop_context = (uintptr_t)context;
      explored_thread.subject = identity;
      exploration_pause(point_hop, 0);
    }
    if (left != identity) {
      if (left && ARE_TOUCHES_NOTED) touch_actor(left);
      if (identity && ARE_TOUCHES_NOTED) touch_actor(identity);
    }
  }
  __attribute__((musttail)) return original(context, function, identity, implementation);
}

// MARK: Tasks

/// A task, and the context in which it begins.
struct made_task {
  void *task;
  void *context;
};

typedef __attribute__((swiftcall)) struct made_task task_create_function(
  size_t flags, void *options, const void *type, void *function, void *captured);

/// No point. That a task is made shows nowhere else, where it begins in the turn of an actor.
TAKEN __attribute__((swiftcall)) struct made_task swift_task_create(
  size_t flags, void *options, const void *type, void *function, void *captured) {
  struct made_task made =
    ORIGINAL("swift_task_create", task_create_function *)(flags, options, type, function, captured);
  if (IS_EXPLORED) {
    bool were_open = points_close();
    exploration_answers.note_made((uintptr_t)made.task);
    points_reopen(were_open);
  }
  return made;
}

// MARK: Continuations

typedef __attribute__((swiftcall)) void *continuation_init_function(void *context, uintptr_t flags);
typedef __attribute__((swiftcall)) void continuation_resume_function(void *task);
typedef __attribute__((swiftcall)) void continuation_error_function(void *task, void *error);

/// The calling task makes itself a continuation, which is to be resumed once.
TAKEN __attribute__((swiftcall)) void *swift_continuation_init(void *context, uintptr_t flags) {
  void *task = ORIGINAL("swift_continuation_init", continuation_init_function *)(context, flags);
  TOUCH_OF(touch_of_ready, task, true);
  if (!exploration_is_under_way()) return task;
  bool were_open = points_close();
  if (exploration_answers.begin_continuation) {
    exploration_answers.begin_continuation((uintptr_t)task, were_open);
  }
  points_reopen(were_open);
  return task;
}

/// Whether the task's continuation is to be resumed: a second time would end the program, or worse.
static bool may_resume(void *task) {
  if (!exploration_is_under_way() || !exploration_answers.end_continuation) return true;
  TOUCH_OF(touch_of_ready, task, true);
  bool were_open = points_close();
  bool may = exploration_answers.end_continuation((uintptr_t)task, were_open);
  points_reopen(were_open);
  return may;
}

TAKEN __attribute__((swiftcall)) void swift_continuation_resume(void *task) {
  continuation_resume_function *original = ORIGINAL("swift_continuation_resume", continuation_resume_function *);
  if (may_resume(task)) original(task);
  if (IS_EXPLORED && ARE_TOUCHES_NOTED) touch_resumed((uintptr_t)task);
}

TAKEN __attribute__((swiftcall)) void swift_continuation_throwingResume(void *task) {
  continuation_resume_function *original =
    ORIGINAL("swift_continuation_throwingResume", continuation_resume_function *);
  if (may_resume(task)) original(task);
  if (IS_EXPLORED && ARE_TOUCHES_NOTED) touch_resumed((uintptr_t)task);
}

TAKEN __attribute__((swiftcall)) void swift_continuation_throwingResumeWithError(void *task, void *error) {
  continuation_error_function *original =
    ORIGINAL("swift_continuation_throwingResumeWithError", continuation_error_function *);
  if (may_resume(task)) original(task, error);
  if (IS_EXPLORED && ARE_TOUCHES_NOTED) touch_resumed((uintptr_t)task);
}

// MARK: Cancellation, and what nobody sees

// Whatever its arguments and however it is called, such a function is one with a point before it: what a call
// may pass in registers is kept, and then the original goes on as if it had been called.

/// Whom a function asks about or cancels.
enum subject {
  of_itself,
  /// The task that is its first argument.
  of_task,
  /// The task that is at the address in the register of `self`.
  of_self,
  of_group,
};

struct passed {
  const char *name;
  uint8_t point;
  uint8_t subject;
  /// Whether code jumps there, so that who called it stands in its context and not on the stack.
  bool is_asynchronous;
  void *original;
};

/// Nobody sees what comes of the call: the verdict says that it was made.
#define NO_POINT 255

/// The call is no point. It cancels a task, or asks a group what its tasks have done by themselves.
#define BEHIND_ALL 254

/// What an asynchronous function is given.
struct context {
  struct context *caller;
  uintptr_t goes_on_at;
};

#define REGISTER "$ss27withTaskCancellationHandler9operation8onCancel9isolationxxyYaKXE_yyYbXEScA_pSgYitYaKlF"
#define PASSED_AT(index, symbol, point, subject, is_asynchronous) \
  [index] = {symbol, point, subject, is_asynchronous, 0},
#define EACH_PASSED(do)                                                                                     \
  do(0, "$sScT11isCancelledSbvg", point_check, of_task, false)                                              \
  do(1, "$sScTss5NeverORszABRs_rlE11isCancelledSbvgZ", point_check, of_itself, false)                       \
  do(2, "$sScTss5NeverORszABRs_rlE17checkCancellationyyKFZ", point_check, of_itself, false)                 \
  do(3, "$sSct11isCancelledSbvg", point_check, of_self, false)                                              \
  do(4, "$sScG11isCancelledSbvg", point_check, of_group, false)                                             \
  do(5, "$sScg11isCancelledSbvg", point_check, of_group, false)                                             \
  do(6, "$ss19DiscardingTaskGroupV11isCancelledSbvg", point_check, of_group, false)                         \
  do(7, "$ss27ThrowingDiscardingTaskGroupV11isCancelledSbvg", point_check, of_group, false)                 \
  do(14, REGISTER, point_register, of_itself, true)                                                         \
  do(15, "swift_asyncLet_finish", BEHIND_ALL, of_itself, false)                                             \
  do(16, "$ss19DiscardingTaskGroupV7isEmptySbvg", BEHIND_ALL, of_itself, false)                             \
  do(17, "$ss27ThrowingDiscardingTaskGroupV7isEmptySbvg", BEHIND_ALL, of_itself, false)                     \
  do(18, "swift_task_isCancelled", point_check, of_task, false)

/// Those that cancel, and call handlers before they return.
#define EACH_CANCELLING(do)                                                                                 \
  do(8, "$sScT6cancelyyF", point_cancel, of_task, false)                                                    \
  do(9, "$sSct6cancelyyF", point_cancel, of_self, false)                                                    \
  do(10, "$sScG9cancelAllyyF", point_cancel, of_group, false)                                               \
  do(11, "$sScg9cancelAllyyF", point_cancel, of_group, false)                                               \
  do(12, "$ss19DiscardingTaskGroupV9cancelAllyyF", point_cancel, of_group, false)                           \
  do(13, "$ss27ThrowingDiscardingTaskGroupV9cancelAllyyF", point_cancel, of_group, false)

/// Of these, who ask a group that its own tasks cancel, by an error.
#define IS_ASKED_OF_DISCARDING_GROUP(index) ((index) == 6 || (index) == 7)

/// Functions of whose work nothing is seen.
#define EACH_UNSEEN(do)                                                                                     \
  do(19, "pthread_barrier_wait", NO_POINT, of_itself, false)                                                \
  do(20, "pthread_spin_lock", NO_POINT, of_itself, false)                                                   \
  do(21, "pthread_spin_trylock", NO_POINT, of_itself, false)                                                \
  do(22, "pthread_cancel", NO_POINT, of_itself, false)                                                      \
  do(23, "pthread_tryjoin_np", NO_POINT, of_itself, false)                                                  \
  do(24, "pthread_timedjoin_np", NO_POINT, of_itself, false)                                                \
  do(25, "pthread_clockjoin_np", NO_POINT, of_itself, false)

/// Functions of an object of Foundation that take its lock, which nobody sees: it is a comparison in their own code.
#define CENTRE(name) "$s20FoundationEssentials18NotificationCenterC0A0E" name
#define ADD(block) \
  CENTRE("11addObserver7forName6object5queue" block \
    "AD16NSObjectProtocol_pAD14NSNotificationC0H0VSg_ypSgAD14OperationQueueCSgyAD0C0V")
#define EACH_LOCKING(do)                                                                                    \
  do(26, ADD("5using") "YbctF", point_go_on, of_self, false)                                                \
  do(27, ADD("10usingBlock") "ctF", point_go_on, of_self, false)                                            \
  do(28, CENTRE("14removeObserver_4name6objectyyp_AD14NSNotificationC4NameVSgypSgtF"),                      \
    point_go_on, of_self, false)                                                                            \
  do(29, CENTRE("14removeObserveryyypF"), point_go_on, of_self, false)                                      \
  do(30, CENTRE("4post4name6object8userInfoyAD14NSNotificationC4NameV_ypSgSDys11AnyHashableVypGSgtF"),      \
    point_go_on, of_self, false)                                                                            \
  do(31, CENTRE("4postyyAD0C0VF"), point_go_on, of_self, false)

static struct passed passed[] = {
  EACH_PASSED(PASSED_AT) EACH_CANCELLING(PASSED_AT) EACH_UNSEEN(PASSED_AT) EACH_LOCKING(PASSED_AT)};

/// Who called the function that stands around another one, as those do that cancel: above the frames of this call and
/// of what called it.
#define CALLER_AROUND(frame) ((*(const uintptr_t ***)(frame))[0][1])

/// Stands before the function of that number; returns where it goes on.
__attribute__((used, visibility("hidden"))) void *taken_pass(
  unsigned long index, uintptr_t caller, const struct context *context, uintptr_t first,
  const uintptr_t *self) {
  struct passed *function = &passed[index];
  void *original = __atomic_load_n(&function->original, __ATOMIC_RELAXED);
  if (!original) {
    __atomic_store_n(&function->original, original = taken_original(function->name), __ATOMIC_RELAXED);
  }
  if (!IS_EXPLORED) return original;
  if (function->point == point_cancel) caller = CALLER_AROUND(__builtin_frame_address(0));
  if (function->is_asynchronous) {
    caller = context->goes_on_at;
    explored_thread.hop_function = caller;
    explored_thread.hop_context = (uintptr_t)context->caller;
  }
  if (function->point == BEHIND_ALL) {
    if (ARE_TOUCHES_NOTED) touch_everything(touch_of_cancellation);
    return original;
  }
  if (function->point == NO_POINT) {
    if (ARE_TOUCHES_NOTED) touch_everything(touch_of_step);
    if (is_under_study(caller) || is_of_foundation(caller)) {
      bool were_open = points_close();
      exploration_answers.note_unseen(function->name);
      points_reopen(were_open);
    }
    return original;
  }
  if (function->point == point_go_on) {
    if (!is_under_study(caller)) return original;
    exploration_pause(point_go_on, 0);
    // Before it, though the lock is taken in it: what comes in between is the library's.
    ACQUIRE(self);
    RELEASE(self);
    return original;
  }
  if (is_under_study(caller)) {
    explored_thread.subject = function->subject == of_task    ? first
                              : function->subject == of_self  ? *self
                              : function->subject == of_group ? SUBJECT_GROUP
                                                              : 0;
    exploration_pause(function->point, 0);
    // Who is cancelled, and what the handlers find, is not known; nor is who has cancelled a group.
    bool is_behind_all = function->point == point_cancel || IS_ASKED_OF_DISCARDING_GROUP(index);
    if (is_behind_all && ARE_TOUCHES_NOTED) touch_everything(touch_of_cancellation);
    // A handler that is registered after the cancellation runs at once, and sees what the canceller did before.
    if (function->point == point_cancel) RELEASE(passed);
    // A cancellation may come between the registration and what the operation does then.
    if (function->point == point_register) {
      ACQUIRE(passed);
      explored_thread.due = point_go_on;
    }
    // A cancellation may come between what the check says and what is done then.
    if (function->point == point_check) explored_thread.due = point_go_on;
  }
  return original;
}

/// Stands behind a function that has called cancellation handlers: who slept in the runtime until one had ended goes on
/// meanwhile, and is waited for.
__attribute__((used, visibility("hidden"))) void taken_await_blocked(void) {
  if (!IS_EXPLORED) return;
  bool were_open = points_close();
  exploration_answers.await_blocked();
  points_reopen(were_open);
}

#if defined(__x86_64__)
__asm__(
  ".text\n"
  ".type taken_pass_around, @function\n"
  "taken_pass_around:\n"
  "  pushq %rbp\n"
  "  movq %rsp, %rbp\n"
  "  call taken_pass_on\n"
  "  call taken_await_blocked\n"
  "  popq %rbp\n"
  "  ret\n"
  ".size taken_pass_around, . - taken_pass_around\n"
  ".type taken_pass_on, @function\n"
  "taken_pass_on:\n"
  // In r11 is the function's number; on the stack the caller's address; in r14 the context, and in r13
  // `self`, if it has them.
  "  pushq %rbp\n"
  "  movq %rsp, %rbp\n"
  "  pushq %rdi\n  pushq %rsi\n  pushq %rdx\n  pushq %rcx\n  pushq %r8\n  pushq %r9\n"
  "  pushq %rax\n  pushq %r10\n"
  "  subq $128, %rsp\n"
  "  movups %xmm0, (%rsp)\n  movups %xmm1, 16(%rsp)\n  movups %xmm2, 32(%rsp)\n"
  "  movups %xmm3, 48(%rsp)\n  movups %xmm4, 64(%rsp)\n  movups %xmm5, 80(%rsp)\n"
  "  movups %xmm6, 96(%rsp)\n  movups %xmm7, 112(%rsp)\n"
  "  movq %rdi, %rcx\n"
  "  movq %r13, %r8\n"
  "  movq %r11, %rdi\n"
  "  movq 8(%rbp), %rsi\n"
  "  movq %r14, %rdx\n"
  "  call taken_pass\n"
  "  movq %rax, %r11\n"
  "  movups (%rsp), %xmm0\n  movups 16(%rsp), %xmm1\n  movups 32(%rsp), %xmm2\n"
  "  movups 48(%rsp), %xmm3\n  movups 64(%rsp), %xmm4\n  movups 80(%rsp), %xmm5\n"
  "  movups 96(%rsp), %xmm6\n  movups 112(%rsp), %xmm7\n"
  "  addq $128, %rsp\n"
  "  popq %r10\n  popq %rax\n"
  "  popq %r9\n  popq %r8\n  popq %rcx\n  popq %rdx\n  popq %rsi\n  popq %rdi\n"
  "  popq %rbp\n"
  "  jmpq *%r11\n"
  ".size taken_pass_on, . - taken_pass_on\n");

#define PASS_BY(way, index, symbol)                                                                         \
  __asm__(".text\n.weak \"" symbol "\"\n.type \"" symbol "\", @function\n\"" symbol "\":\n"                  \
          "  movq $" #index ", %r11\n  jmp " way "\n.size \"" symbol "\", . - \"" symbol "\"\n");
#elif defined(__aarch64__)
__asm__(
  ".text\n"
  ".type taken_pass_around, %function\n"
  "taken_pass_around:\n"
  "  stp x29, x30, [sp, #-16]!\n"
  "  mov x29, sp\n"
  "  bl taken_pass_on\n"
  "  bl taken_await_blocked\n"
  "  ldp x29, x30, [sp], #16\n"
  "  ret\n"
  ".size taken_pass_around, . - taken_pass_around\n"
  ".type taken_pass_on, %function\n"
  "taken_pass_on:\n"
  // In x16 is the function's number; in x30 the caller's address; in x22 the context, and in x20 `self`,
  // if it has them.
  "  stp x29, x30, [sp, #-16]!\n"
  "  mov x29, sp\n"
  "  stp x0, x1, [sp, #-16]!\n  stp x2, x3, [sp, #-16]!\n  stp x4, x5, [sp, #-16]!\n"
  "  stp x6, x7, [sp, #-16]!\n  stp x8, x9, [sp, #-16]!\n"
  "  stp q0, q1, [sp, #-32]!\n  stp q2, q3, [sp, #-32]!\n"
  "  stp q4, q5, [sp, #-32]!\n  stp q6, q7, [sp, #-32]!\n"
  "  mov x3, x0\n"
  "  mov x4, x20\n"
  "  mov x0, x16\n"
  "  mov x1, x30\n"
  "  mov x2, x22\n"
  "  bl taken_pass\n"
  "  mov x16, x0\n"
  "  ldp q6, q7, [sp], #32\n  ldp q4, q5, [sp], #32\n  ldp q2, q3, [sp], #32\n  ldp q0, q1, [sp], #32\n"
  "  ldp x8, x9, [sp], #16\n  ldp x6, x7, [sp], #16\n  ldp x4, x5, [sp], #16\n"
  "  ldp x2, x3, [sp], #16\n  ldp x0, x1, [sp], #16\n"
  "  ldp x29, x30, [sp], #16\n"
  "  br x16\n"
  ".size taken_pass_on, . - taken_pass_on\n");

#define PASS_BY(way, index, symbol)                                                                         \
  __asm__(".text\n.weak \"" symbol "\"\n.type \"" symbol "\", %function\n\"" symbol "\":\n"                  \
          "  mov x16, #" #index "\n  b " way "\n.size \"" symbol "\", . - \"" symbol "\"\n");
#endif

#ifdef PASS_BY
#define PASS(index, symbol, point, subject, is_asynchronous) PASS_BY("taken_pass_on", index, symbol)
#define PASS_AROUND(index, symbol, point, subject, is_asynchronous) PASS_BY("taken_pass_around", index, symbol)
EACH_PASSED(PASS)
EACH_CANCELLING(PASS_AROUND)
#ifndef MEMORY_AND_THREADS_ARE_NOT_TAKEN
EACH_UNSEEN(PASS)
#endif
EACH_LOCKING(PASS)
#endif

// MARK: The clock

typedef int clock_function(clockid_t, struct timespec *);

/// Each clock stands where it stood when it was first asked for, and goes on with the schedule's own time.
TAKEN int clock_gettime(clockid_t clock, struct timespec *time) {
  static int64_t beginnings[16];
  clock_function *original = ORIGINAL("clock_gettime", clock_function *);
  // A clock of what threads and processes have used is not the exploration's.
  bool is_of_the_world = clock >= 0 && clock < 16 && clock != CLOCK_PROCESS_CPUTIME_ID
                         && clock != CLOCK_THREAD_CPUTIME_ID;
  if (!IS_EXPLORED || !is_of_the_world) return original(clock, time);
  const int64_t second = 1000000000;
  int64_t beginning = __atomic_load_n(&beginnings[clock], __ATOMIC_RELAXED);
  if (beginning == 0) {
    int result = original(clock, time);
    if (result != 0) return result;
    beginning = time->tv_sec * second + time->tv_nsec;
    __atomic_store_n(&beginnings[clock], beginning, __ATOMIC_RELAXED);
  }
  bool were_open = points_close();
  int64_t now = exploration_answers.now();
  points_reopen(were_open);
  int64_t sum = beginning > INT64_MAX - now ? INT64_MAX : beginning + now;
  time->tv_sec = sum / second;
  time->tv_nsec = sum % second;
  return 0;
}

/// Whether code under study asks, or Foundation for it; who tells of a schedule sleeps in earnest.
#define IS_ASKED_BY_STUDY (IS_EXPLORED && (is_under_study(HERE) || is_of_foundation(HERE)))

typedef time_t time_function(time_t *);
typedef int day_function(struct timeval *, void *);
typedef int sleep_function(const struct timespec *, struct timespec *);

TAKEN time_t time(time_t *result) {
  if (!IS_ASKED_BY_STUDY) return ORIGINAL("time", time_function *)(result);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}

TAKEN int gettimeofday(struct timeval *result, void *zone) {
  if (!IS_ASKED_BY_STUDY) return ORIGINAL("gettimeofday", day_function *)(result, zone);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  *result = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

// A thread that sleeps sleeps for the schedule's own time.

static void sleep_explored(int64_t time) {
  bool were_open = points_close();
  exploration_answers.limit_wait(time > 0 ? time : 1);
  points_reopen(were_open);
  exploration_pause(point_sleep, 0);
}

TAKEN int nanosleep(const struct timespec *time, struct timespec *left) {
  if (!IS_ASKED_BY_STUDY) return ORIGINAL("nanosleep", sleep_function *)(time, left);
  if (time->tv_sec == 0 && time->tv_nsec < 1000 && is_of_foundation(HERE)) {
    // Foundation counts seconds in floating point, and sleeps again for what rounding has left: no other sleep.
    bool were_open = points_close();
    exploration_answers.pass(time->tv_nsec > 0 ? time->tv_nsec : 1);
    points_reopen(were_open);
    return 0;
  }
  sleep_explored(time->tv_sec > INT32_MAX ? INT64_MAX : time->tv_sec * 1000000000 + time->tv_nsec);
  return 0;
}

typedef int clock_sleep_function(clockid_t, int, const struct timespec *, struct timespec *);

TAKEN int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
  if (!IS_ASKED_BY_STUDY) return ORIGINAL("clock_nanosleep", clock_sleep_function *)(clock, flags, time, left);
  int64_t span = time->tv_sec > INT32_MAX ? INT64_MAX : time->tv_sec * 1000000000 + time->tv_nsec;
  if (flags & TIMER_ABSTIME && span != INT64_MAX) {
    struct timespec now;
    clock_gettime(clock, &now);
    span -= now.tv_sec * 1000000000 + now.tv_nsec;
    if (span <= 0) return 0;
  }
  sleep_explored(span);
  return 0;
}

typedef int poll_function(struct pollfd *, nfds_t, int);

/// Without a file to wait for, it is a sleep.
TAKEN int poll(struct pollfd *files, nfds_t count, int milliseconds) {
  if (count > 0 || milliseconds <= 0 || !IS_ASKED_BY_STUDY) {
    return ORIGINAL("poll", poll_function *)(files, count, milliseconds);
  }
  sleep_explored((int64_t)milliseconds * 1000000);
  return 0;
}

typedef int select_function(int, fd_set *, fd_set *, fd_set *, struct timeval *);

TAKEN int select(int count, fd_set *read, fd_set *written, fd_set *others, struct timeval *time) {
  if (count > 0 || !time || !IS_ASKED_BY_STUDY) {
    return ORIGINAL("select", select_function *)(count, read, written, others, time);
  }
  if (time->tv_sec > 0 || time->tv_usec > 0) {
    sleep_explored(time->tv_sec > INT32_MAX ? INT64_MAX : time->tv_sec * 1000000000 + time->tv_usec * 1000);
  }
  return 0;
}

typedef int timespec_function(struct timespec *, int);

TAKEN int timespec_get(struct timespec *result, int base) {
  if (base != TIME_UTC || !IS_ASKED_BY_STUDY) return ORIGINAL("timespec_get", timespec_function *)(result, base);
  clock_gettime(CLOCK_REALTIME, result);
  return base;
}

TAKEN int usleep(useconds_t time) {
  if (!IS_ASKED_BY_STUDY) return ORIGINAL("usleep", int (*)(useconds_t))(time);
  sleep_explored((int64_t)time * 1000);
  return 0;
}

TAKEN unsigned sleep(unsigned time) {
  if (!IS_ASKED_BY_STUDY) return ORIGINAL("sleep", unsigned (*)(unsigned))(time);
  sleep_explored((int64_t)time * 1000000000);
  return 0;
}

#endif
