#define _GNU_SOURCE
#include "CExplorable.h"
#include <fcntl.h>
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

size_t stack_frames(struct stack_frame *frames, size_t room) {
  int memory = own_memory();
  if (memory < 0) return 0;
  size_t count = 0;
  uintptr_t base = (uintptr_t)__builtin_frame_address(0);
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
