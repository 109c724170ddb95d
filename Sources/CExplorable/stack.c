#define _GNU_SOURCE
#include "CExplorable.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

// The frames of a thread, by their frame pointers, and the callers of a task's function, by their contexts.
//
// An asynchronous function keeps its context just below what its frame pointer points to. At the function's end,
// while what it owned is let go, the context is gone already and the word leads anywhere: to no memory, or back
// to itself. So memory is read through the kernel, which says where there is none, and the caller says how far
// to go. The runtime's own `Backtrace.capture` reads memory itself and goes on to the end of the chain: it ended
// the program by a signal, and could go on for ever.

// Nothing lies in the first page.
static const uintptr_t least_address = 4096;

static int own_memory(void) { return open("/proc/self/mem", O_RDONLY | O_CLOEXEC); }

static bool read_words(int memory, uintptr_t address, uintptr_t *words, size_t count) {
  ssize_t size = (ssize_t)(count * sizeof(uintptr_t));
  return address >= least_address && address % sizeof(uintptr_t) == 0 &&
         pread(memory, words, (size_t)size, (off_t)address) == size;
}

/// Part of its callers: what it would leave on the stack may be where the frame stood of one that ends with it.
__attribute__((always_inline)) static inline size_t frames_above(
  uintptr_t base, struct stack_frame *frames, size_t room) {
  int memory = own_memory();
  if (memory < 0) return 0;
  size_t count = 0;
  // The caller's frame pointer, and the address that the function returns to.
  uintptr_t caller[2];
  while (count < room && read_words(memory, base, caller, 2) && caller[1] >= least_address) {
    // One byte before it is the call.
    frames[count++] = (struct stack_frame){.point = caller[1] - 1, .base = caller[0]};
    // A stack grows downwards.
    if (caller[0] <= base) break;
    base = caller[0];
  }
  close(memory);
  return count;
}

size_t stack_frames(struct stack_frame *frames, size_t room) {
  return frames_above((uintptr_t)__builtin_frame_address(0), frames, room);
}

extern const char __executable_start, etext;

static bool is_of_program(uintptr_t address) {
  return address >= (uintptr_t)&__executable_start && address < (uintptr_t)&etext;
}

size_t stack_frames_at(const void *context, struct stack_frame *frames, size_t room) {
  if (room == 0) return 0;
#if defined(__x86_64__)
  const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
  uintptr_t point = (uintptr_t)registers[REG_RIP], base = (uintptr_t)registers[REG_RBP];
  uintptr_t caller = 0;
  int memory = own_memory();
  if (memory >= 0) {
    if (!read_words(memory, (uintptr_t)registers[REG_RSP], &caller, 1)) caller = 0;
    close(memory);
  }
#elif defined(__aarch64__)
  const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
  uintptr_t point = machine->pc, base = machine->regs[29], caller = machine->regs[30];
#else
  uintptr_t point = 0, base = 0, caller = 0;
  (void)context;
#endif
  size_t count = 0;
  frames[count++] = (struct stack_frame){.point = point, .base = base};
  // A function of the system that has no frame, as those that ask the kernel: its caller's address is on the stack,
  // or, on ARM, in a register.
  if (!is_of_program(point) && is_of_program(caller) && count < room) {
    frames[count++] = (struct stack_frame){.point = caller - 1, .base = base};
  }
  return count + frames_above(base, frames + count, room - count);
}

// One thread at a time is asked.
enum { nobody_is_asked, somebody_is_asked, answers, has_answered };
static int question, asked_thread;
static struct stack_frame *wanted;
static size_t wanted_room, answer;

static void tell_frames(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  // A profiler's signal comes to any thread.
  if (gettid() != asked_thread) return;
  int expected = somebody_is_asked;
  if (!__atomic_compare_exchange_n(
        &question, &expected, answers, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return;
  }
  answer = stack_frames_at(context, wanted, wanted_room);
  __atomic_store_n(&question, has_answered, __ATOMIC_RELEASE);
}

size_t stack_frames_of_thread(int thread, struct stack_frame *frames, size_t room) {
  // One that threads of Dispatch do not block, as they do most; those that they start have that from them.
  struct sigaction ask = {.sa_sigaction = tell_frames, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK}, before;
  if (sigaction(SIGPROF, &ask, &before) != 0) return 0;
  asked_thread = thread;
  wanted = frames;
  wanted_room = room;
  __atomic_store_n(&question, somebody_is_asked, __ATOMIC_RELEASE);
  syscall(SYS_tgkill, getpid(), thread, SIGPROF);
  const struct timespec moment = {.tv_nsec = 5000000};
  int state;
  // Ten seconds: on a busy machine the thread may wait long for a processor.
  for (int patience = 2000; patience > 0; patience--) {
    state = __atomic_load_n(&question, __ATOMIC_ACQUIRE);
    if (state == has_answered) break;
    nanosleep(&moment, NULL);
  }
  // Who begins to answer just now is waited for.
  int expected = somebody_is_asked;
  if (!__atomic_compare_exchange_n(
        &question, &expected, nobody_is_asked, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    while (__atomic_load_n(&question, __ATOMIC_ACQUIRE) != has_answered) nanosleep(&moment, NULL);
    __atomic_store_n(&question, nobody_is_asked, __ATOMIC_RELEASE);
    sigaction(SIGPROF, &before, NULL);
    return answer;
  }
  sigaction(SIGPROF, &before, NULL);
  return 0;
}

size_t stack_callers(uintptr_t base, uintptr_t *points, size_t room) {
  int memory = own_memory();
  if (memory < 0) return 0;
  size_t count = 0;
  // The caller's context, and the function that goes on there.
  uintptr_t caller[2];
  if (!read_words(memory, base - sizeof(uintptr_t), caller, 1)) caller[0] = 0;
  while (count < room && read_words(memory, caller[0], caller, 2) && caller[1] >= least_address) {
    points[count++] = caller[1];
  }
  close(memory);
  return count;
}
