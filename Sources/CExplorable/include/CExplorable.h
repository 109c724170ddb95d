#ifndef CEXPLORABLE_H
#define CEXPLORABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "Interception.h"
#include "Races.h"
#include "Touches.h"

/// How many explorations are under way in the process.
extern int explorations_under_way;

/// Whether any exploration is under way: one load and one branch, in the caller.
static inline bool exploration_is_under_way(void) {
  return __builtin_expect(__atomic_load_n(&explorations_under_way, __ATOMIC_RELAXED) != 0, 0);
}

/// Counts an exploration in (1) or out (-1).
void explorations_count(int change);

/// By what the jobs of the main actor are ordered, and the work of the main queue with them.
#define RACE_MAIN_ACTOR (~(uintptr_t)7)

/// The address that orders a queue's exclusive work; its concurrent work uses the address four bytes on.
static inline uintptr_t race_order_of_line(const struct exploration_line *line) {
  return line->is_main ? RACE_MAIN_ACTOR : line->root + 16;
}

/// Orders what work of a dispatch queue does from here on behind the work that had its turn before.
static inline void race_begin_turn(const struct exploration_line *line) {
  if (!__atomic_load_n(&races_are_looked_for, __ATOMIC_RELAXED)) return;
  race_acquire(race_order_of_line(line));
  // Who is alone comes after those, too, who were there together.
  if (line->is_serial || line->is_alone) race_acquire(race_order_of_line(line) + 4);
}

/// Orders it ahead of the work that has its turn afterwards.
static inline void race_end_turn(const struct exploration_line *line) {
  if (!__atomic_load_n(&races_are_looked_for, __ATOMIC_RELAXED)) return;
  race_release(race_order_of_line(line) + (line->is_serial || line->is_alone ? 0 : 4));
}

/// What the calling thread plays in an exploration, unretained; null for nothing.
void *thread_part(void);

void thread_set_part(void *part);

/// A copy of an object of the heap, byte for byte, that nobody owns.
void *copy_of_object(const void *object);

/// How many bytes the memory of an object has that is in a block of its own.
size_t size_of_object(const void *object);

/// The explorer whose jobs the calling thread's are, unretained; null for none. It lasts as long as the thread: what is
/// kept by a key of `pthread` is gone while the thread ends.
void *thread_explorer(void);
/// Has the calling thread's jobs be those of that explorer.
void thread_set_explorer(void *explorer);

/// The address of the task that runs on the calling thread; 0 for none.
///
/// Asked of the runtime: `withUnsafeCurrentTask` retains the task, and each point asks.
uintptr_t current_task(void);

/// The kernel's number of the calling thread.
int thread_number(void);
/// Whether there is a thread of this process of that number.
bool thread_exists(int number);

/// Some of the machine's processors, a bit each.
struct processors {
  uint64_t words[16];
};

/// Those that the calling thread may use; none where the system does not say.
struct processors processors_of_thread(void);

/// Lets a thread of this process, by the kernel's number, use those; whether it may.
bool processors_allow(int thread, const struct processors *processors);

/// The same for each thread of this process that may use the `from` alone.
void processors_allow_from(const struct processors *from, const struct processors *processors);

/// Which processor runs the calling thread; negative where the system does not say.
int processor_of_thread(void);

/// For how many nanoseconds a thread of this process, by the kernel's number, has had a processor.
int64_t time_of_thread(int thread);

/// A call under way.
struct stack_frame {
  /// Where in the code the function stands.
  uintptr_t point;
  /// Its frame pointer.
  uintptr_t base;
};

/// The calls under way on the calling thread, the innermost first; returns how many, at most `room`.
size_t stack_frames(struct stack_frame *frames, size_t room);

/// A function's name as the language has it, to be freed; null if the name is none of the language's.
char *demangled_name(const char *name);

/// Two ends of a connection, which no program gets that another thread starts meanwhile.
bool connection_for_one(int *ends);

/// The calls under way where a signal, whose handler was given `context`, has found a thread.
size_t stack_frames_at(const void *context, struct stack_frame *frames, size_t room);

/// The calls under way on another thread, which is asked by a signal; none if it does not answer.
size_t stack_frames_of_thread(int thread, struct stack_frame *frames, size_t room);

/// Where the callers of an asynchronous function go on, the nearest first; returns how many, at most `room`.
size_t stack_callers(uintptr_t base, uintptr_t *points, size_t room);

#endif
