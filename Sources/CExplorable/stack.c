#define _GNU_SOURCE
#include "CExplorable.h"
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

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

extern const char __executable_start, etext;

static bool is_of_program(uintptr_t address) {
  return address >= (uintptr_t)&__executable_start && address < (uintptr_t)&etext;
}

// Some functions of the system's libraries, as those between a program and Dispatch, keep no frame pointer: the chain
// ends there, or goes on with a caller's caller. The unwinder's tables know who called them.

// A program may be linked without the unwinder.
extern _Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn, void *) __attribute__((weak));
extern uintptr_t _Unwind_GetIP(struct _Unwind_Context *) __attribute__((weak));
extern uintptr_t _Unwind_GetGR(struct _Unwind_Context *, int) __attribute__((weak));

#if defined(__x86_64__)
enum { frame_register = 6 };
#else
enum { frame_register = 29 };
#endif

struct unwound {
  struct stack_frame frames[64];
  size_t count;
};

static _Unwind_Reason_Code note_unwound(struct _Unwind_Context *context, void *argument) {
  struct unwound *unwound = argument;
  if (unwound->count == sizeof unwound->frames / sizeof *unwound->frames) return _URC_END_OF_STACK;
  unwound->frames[unwound->count++] =
    (struct stack_frame){.point = _Unwind_GetIP(context) - 1, .base = _Unwind_GetGR(context, frame_register)};
  return _URC_NO_REASON;
}

/// Goes on with a chain behind its last frame, a library's, as the unwinder does, until it comes to the program;
/// returns how many frames there are then, or `count` if it knows no more.
static size_t past_library(const struct unwound *unwound, struct stack_frame *frames, size_t count, size_t room) {
  size_t from = 0, end = count;
  while (from < unwound->count && unwound->frames[from].point != frames[count - 1].point) from++;
  while (++from < unwound->count && end < room) {
    frames[end++] = unwound->frames[from];
    if (is_of_program(unwound->frames[from].point)) return end;
  }
  return count;
}

/// Whether the bytes before the address look like a call.
static bool is_behind_call(uintptr_t address) {
#if defined(__x86_64__)
  const uint8_t *code = (const uint8_t *)address;
  // To an address in the program, by a register, by memory near a register, by memory near two or the stack's, by
  // memory further away.
  return code[-5] == 0xE8 || code[-2] == 0xFF || code[-3] == 0xFF || code[-4] == 0xFF || code[-6] == 0xFF ||
    code[-7] == 0xFF;
#else
  uint32_t before = ((const uint32_t *)address)[-1];
  return (before & 0xFC000000) == 0x94000000 || (before & 0xFFFFFC1F) == 0xD63F0000;
#endif
}

/// The call in the program behind a small function of a library of which the unwinder knows nothing either: the nearest
/// on the stack above the frame of whom it called; 0 for none.
static uintptr_t nearest_call(uintptr_t callee) {
  uintptr_t words[8], found = 0;
  int memory = own_memory();
  if (memory < 0) return 0;
  if (read_words(memory, callee + 2 * sizeof *words, words, sizeof words / sizeof *words)) {
    for (size_t index = 0; index < sizeof words / sizeof *words && !found; index++) {
      if (is_of_program(words[index]) && is_behind_call(words[index])) found = words[index] - 1;
    }
  }
  close(memory);
  return found;
}

size_t stack_frames(struct stack_frame *frames, size_t room) {
  uintptr_t callee = (uintptr_t)__builtin_frame_address(0);
  size_t count = frames_above(callee, frames, room);
  struct unwound unwound = {.count = 0};
  for (size_t index = 0; index < count; callee = frames[index++].base) {
    if (is_of_program(frames[index].point)) continue;
    if (!unwound.count && _Unwind_Backtrace && _Unwind_GetIP && _Unwind_GetGR) {
      _Unwind_Backtrace(note_unwound, &unwound);
    }
    size_t next = past_library(&unwound, frames, index + 1, room);
    if (next == index + 1) {
      uintptr_t call = next < room ? nearest_call(callee) : 0;
      if (!call) break;
      frames[next++] = (struct stack_frame){.point = call, .base = frames[index].base};
    }
    count = next + frames_above(frames[next - 1].base, frames + next, room - next);
    index = next - 1;
  }
  return count;
}

#if defined(__x86_64__)
/// Whether the instruction there jumps on by an address in memory, as the linker has a call of a library do: what its
/// caller is stands on the stack, as in a function that has no frame.
static bool is_jump_on(uintptr_t point) {
  const uint8_t *code = (const uint8_t *)point;
  static const uint8_t target_mark[] = {0xF3, 0x0F, 0x1E, 0xFA};
  if (memcmp(code, target_mark, sizeof target_mark) == 0) code += sizeof target_mark;
  if (*code == 0xF2) code++;
  return code[0] == 0xFF && code[1] == 0x25;
}
#else
static bool is_jump_on(uintptr_t point) { return (void)point, false; }
#endif

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
  if ((!is_of_program(point) || is_jump_on(point)) && is_of_program(caller) && count < room) {
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
