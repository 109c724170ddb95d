#ifndef CEXPLORABLE_RACES_H
#define CEXPLORABLE_RACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Which accesses to memory are ordered, and which are not: happens-before by vector clocks, after
// C. Flanagan and S. N. Freund, "FastTrack" (PLDI 2009), with the last accesses of each word as the thread sanitizer
// keeps them.
//
// Whoever has a clock of its own is a racer: a task, a thread, a dispatch queue that is serial. What happens in a
// schedule happens in one order, and yet two accesses race if nothing that the code does puts one before the other.

/// Where in the code something was done: there, and where the functions were called from that this is in, innermost
/// first, 0 where that is not known.
#define PLACES_OF_RACE 6
struct race_place {
  uintptr_t at[PLACES_OF_RACE];
};

/// One of two accesses that nothing orders.
struct race_access {
  struct race_place place;
  /// In whose name.
  int32_t agent;
  /// In which step of the schedule.
  uint32_t step;
  bool is_write;
  /// Whether the memory was given back, which is a write too.
  bool gives_back;
};

struct race {
  /// The one that came first in the schedule. Where it gives memory back, nobody may use that any more, in no order.
  struct race_access first, second;
};

/// Whether accesses are looked at: one load and one branch, in the caller.
extern int races_are_looked_for;

/// Forgets the schedule before, and looks at accesses from here on.
void races_begin(void);

/// Looks at no accesses any more.
void races_end(void);

/// Has the calling thread act as this racer.
void races_act_as(uint32_t racer);

/// Has what the calling thread does from here on be told as done by this agent.
void races_name(int32_t agent);

/// Has what is done from here on count as done in the schedule's step of that number.
void races_step(uint32_t number);

/// Notes an access to memory that may be shared. Where it is not known what the thread comes after, it is not judged by
/// what was before: others are by it, and a race that it would have been is kept as a doubt.
void race_access(uintptr_t at, size_t size, bool is_write, bool is_judged, const struct race_place *place);

/// Orders what comes after behind what was released at the address, or number.
void race_acquire(uintptr_t at);

/// The same at a `Mutex` that the thread has taken; where nobody has seen that it was released, behind all that its
/// last holder has done.
void race_take(uintptr_t at);

/// Orders what came before, and what was released there before, ahead of those who acquire it.
void race_release(uintptr_t at);

/// Notes an operation on an atomic of which `order` is as in C: 0 relaxed, 1 consume, 2 acquire, 3 release, 4 both,
/// 5 sequentially consistent.
void race_atomic(uintptr_t at, bool reads, bool writes, int order);

/// Notes a fence of such an order.
void race_fence(int order);

/// Whether something was taken or released at the address: what is there is a lock, and no plain memory.
bool race_is_order(uintptr_t at);

/// Whether the address is on the calling thread's stack, where nobody else uses it.
bool race_is_on_stack(uintptr_t at);

/// Has the calling thread's stack from there on count as memory that others use too; 0 ends that. Returns what was said
/// before.
uintptr_t race_share_stack(uintptr_t from);

/// Notes that the calling thread's stack is used anew below where it stands: what lies there was of calls that are over.
void race_forget_stack(void);

/// Notes that memory is given back: as a write to what of it was used, for nobody may use it meanwhile, nor later. Not
/// judged by what was before where it is not known what that was ordered by. True if the memory is kept until the next
/// schedule, and not to be freed.
bool race_end(uintptr_t at, size_t size, const struct race_place *place, bool is_judged);

/// Keeps memory that is given back until the next schedule begins; false where there is no room, and it is to be freed.
bool memory_keep(uintptr_t at, size_t size, const struct race_access *by);
/// Who gave back the memory in which the address is; null if it is not kept.
const struct race_access *memory_given_back_by(uintptr_t at);
/// Frees what is kept.
void memory_let_go(void);

/// Notes that memory is used anew.
void race_forget(uintptr_t at, size_t size);

/// The first race of the schedule, if one was found.
bool race_found(struct race *race);

/// The first race since the last call that was not judged to be one, if there was any.
bool race_in_doubt(struct race *race);

/// Whether some accesses were not looked at, for there were too many, since the last call.
bool races_were_left_out(void);

/// Whether some atomic was used with an order weaker than sequentially consistent, since the last call.
bool races_saw_weak_orders(void);

#endif
