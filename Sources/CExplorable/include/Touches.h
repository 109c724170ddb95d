#ifndef CEXPLORABLE_TOUCHES_H
#define CEXPLORABLE_TOUCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What each step of a schedule touches (locks, atomics, tasks, actors, whatever one step leaves and another finds), and
// so which earlier steps it depends on.
//
// Of a schedule so far a sum is kept to which each step adds a number. The number is made of what the step found: of
// each thing that it touched, the number of the step that wrote there last, and of those that have read there since if
// it writes there itself. It is not made of the step's place in the schedule. So two schedules in which the same steps
// come behind the same steps have the same sum, in whatever order the others were taken; and two that differ in what
// came behind what have different sums, but for the chance of one in 2^64.

/// Whether touches are noted: one load and one branch, in the caller.
extern int touches_are_noted;

/// What kind of thing is touched. Only a test tells them apart: it has some overlooked, to see that a comparison of
/// searches notices.
enum touch_kind {
  /// The agent whose step it is, and whatever else is never overlooked.
  touch_of_step = 0,
  touch_of_atomic = 1 << 0,
  /// Locks of threads, and conditions, semaphores and groups of Dispatch.
  touch_of_lock = 1 << 1,
  touch_of_queue = 1 << 2,
  /// What the runtime tells a sanitizer that it puts in an order: jobs, tasks, actors.
  touch_of_runtime = 1 << 3,
  /// Who is made ready, and by whom.
  touch_of_ready = 1 << 4,
  touch_of_actor = 1 << 5,
  touch_of_main_actor = 1 << 6,
  touch_of_time = 1 << 7,
  touch_of_cancellation = 1 << 8,
  touch_of_chance = 1 << 9,
  /// How many own an object.
  touch_of_owner = 1 << 10,
  touch_of_priority = 1 << 11,
};

/// The number of a task, of a queue's work or of a thread of an exploration: higher than any address.
static inline uintptr_t touch_agent(int32_t agent) { return (uintptr_t)3 << 62 | (uintptr_t)(uint32_t)agent << 3; }

/// The numbers of two things without an address: the source of random numbers, and the order of the jobs that wait for
/// actors.
#define TOUCH_CHANCE ((uintptr_t)7 << 61)
#define TOUCH_ACTORS (((uintptr_t)7 << 61) + 8)

/// Forgets the last schedule, and begins to note touches. Kinds in `overlooked` are not noted: only a test overlooks
/// any.
void touches_begin(uint32_t overlooked);

/// Notes no touches any more.
void touches_end(void);

/// Notes that a step begins; `value` tells it from other steps.
void touches_begin_step(uint64_t value);

/// Adds the step that has ended to the sum.
void touches_end_step(void);

/// Notes that the step under way finds what is at the address, or of that number, and changes it if it writes.
void touch(enum touch_kind kind, uintptr_t at, bool writes);

/// Notes that the runtime has the step under way enqueue a job, or release something else at that address.
///
/// A job that does not come to the exploration waits for an actor, and nobody sees behind whom.
void touch_released(uintptr_t at);

/// Notes that the job has come to the exploration.
void touch_admitted(uintptr_t job);

/// Notes that the step under way has resumed the task.
void touch_resumed(uintptr_t task);

/// Notes that some actor gets its turn by the step under way.
void touch_actors(void);

/// Notes that the step under way enters the actor, or leaves it.
void touch_actor(uintptr_t actor);

/// Notes that the step under way comes behind all that came before, and all that comes behind it.
void touch_everything(enum touch_kind kind);

/// Notes a value that the step under way has found, where nobody knows which step left it.
///
/// That is enough where it makes no difference in which order the steps came that left it, as of a count.
void touch_value(enum touch_kind kind, uint64_t value);

/// Notes that memory is used anew.
void touch_forget(uintptr_t at, size_t size);

/// What tells the thing at that address, as the steps so far have left it, from others and other times.
uint64_t touch_state(uintptr_t at);

/// What tells the steps so far, and what came behind what, from others.
uint64_t touches_sum(void);

/// Mixes two numbers to one.
static inline uint64_t touch_mix(uint64_t one, uint64_t other) {
  uint64_t sum = one ^ (other + 0x9E3779B97F4A7C15ull + (one << 6) + (one >> 2));
  sum ^= sum >> 30;
  sum *= 0xBF58476D1CE4E5B9ull;
  sum ^= sum >> 27;
  sum *= 0x94D049BB133111EBull;
  return sum ^ sum >> 31;
}

#endif
