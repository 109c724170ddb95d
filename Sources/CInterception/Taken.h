#ifndef TAKEN_H
#define TAKEN_H

// Calls are taken over by being defined in the program: the linker and the loader find a program's own
// definitions before those of its libraries. All are weak, so that a sanitizer's own come before them.
//
// With the thread sanitizer everything here is left out: it takes over the same calls.

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NOTHING_IS_TAKEN
#endif
#endif
#if !defined(__linux__)
#define NOTHING_IS_TAKEN
#endif

// The address sanitizer takes over some of them, also weakly: the memory and the threads are left to it.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MEMORY_AND_THREADS_ARE_NOT_TAKEN
#endif
#endif

#ifndef NOTHING_IS_TAKEN

#include "CExplorable.h"
#include <stddef.h>
#include <time.h>

/// What kind of thing the calls of a file touch, if it does not say.
#ifndef KIND_TOUCHED
#define KIND_TOUCHED touch_of_runtime
#endif

/// How long Dispatch is asked to wait: not at all, or without end.
static const uint64_t no_time = 0, all_time = ~0ull;

/// Notes for how long the thread waits next, at most: until then, a time of Dispatch.
void taken_limit_wait(uint64_t time);

/// The same until a time of a clock of the system has come.
void taken_limit_wait_until(clockid_t clock, const struct timespec *time);

/// How many nanoseconds of the schedule's own time there are until a time of Dispatch has come, at least one.
int64_t taken_time_until(uint64_t time);

/// How a block begins: after "Block Implementation Specification", of clang's documentation.
struct block {
  void *kind;
  int flags;
  int reserved;
  void (*invoke)(void *);
};

/// Lets go of a block; in order behind those who did before.
void _Block_release(const void *block);

/// Notes that the block, which Dispatch may have made, is given to a queue; whether nothing else of that may run while
/// it does.
bool taken_note_given(const void *block);
/// Notes that the block, which Dispatch may have made, has run.
void taken_end_block(const void *block);
/// Ends the blocks for which somebody waits, and that have been performed where they stand.
void taken_end_performed_blocks(void);
/// Leaves the group, explored, and gives those their work who wait for its end.
void taken_leave_group(void *group);
intptr_t dispatch_group_wait(void *group, uint64_t time);
void dispatch_group_notify(void *group, void *queue, void *block);
/// Has the queue, explored, begin its work, if it is one that is inactive.
void taken_activate_queue(void *queue);
/// Orders what the thread has done before the work of queues that begins from here on.
void taken_note_resumed(void);
/// Puts the task, which goes on, behind who has resumed it, if that was before it waited.
void taken_go_on(const void *task);
/// The number of the schedule under way.
uint64_t taken_schedule(void);
/// Has the schedule under way fail for a call that ends the program, or should: does not come back where the exploration
/// goes on without the thread. Returns with what status to end.
int taken_end_program(const char *function, int status);

/// Stands before the lock is released, where somebody may try to take it meanwhile.
void taken_stand_before_release(uintptr_t lock);

// Not inlined, and so not split either: an optimised build put what is done in explorations, which is thought rare,
// into functions of their own, whose return address is of no use.
#define TAKEN __attribute__((weak, visibility("default"), noinline))
#define HERE ((uintptr_t)__builtin_return_address(0))

/// Whether the code under study runs on the calling thread.
#define IS_EXPLORED __builtin_expect(explored_thread.is_open, 0)

/// Whether the thread's accesses, and what orders them, are noted.
#define ARE_RACES_LOOKED_FOR __builtin_expect(__atomic_load_n(&races_are_looked_for, __ATOMIC_RELAXED), 0)
#define IS_ORDER_NOTED (IS_EXPLORED && ARE_RACES_LOOKED_FOR)

/// Whether it is known what the thread comes after. Who has a `deinit` run was the last to let go, and others may have
/// let go before where nobody sees it.
#define IS_ORDER_KNOWN (!explored_thread.dying)

/// Whether what the thread's steps touch is noted.
#define ARE_TOUCHES_NOTED __builtin_expect(__atomic_load_n(&touches_are_noted, __ATOMIC_RELAXED), 0)
#define TOUCH_OF(kind, at, writes) \
  ((void)(IS_EXPLORED && ARE_TOUCHES_NOTED && (touch(kind, (uintptr_t)(at), writes), 0)))
#define TOUCH(at, writes) TOUCH_OF(KIND_TOUCHED, at, writes)

// What one releases and another acquires orders accesses, and is found by steps.
#define ACQUIRE(at) (TOUCH(at, false), (void)(IS_ORDER_NOTED && (race_acquire((uintptr_t)(at)), 0)))
#define TAKE(at) (TOUCH(at, true), (void)(IS_ORDER_NOTED && (race_take((uintptr_t)(at)), 0)))
#define RELEASE(at) (TOUCH(at, true), (void)(IS_ORDER_NOTED && (race_release((uintptr_t)(at)), 0)))

/// What objects of Dispatch are known by: at their own address the runtime of Swift may note something else.
#define DISPATCH_ORDER(object) ((uintptr_t)(object) + 16)

/// The definition that would have been found without this target; stops the program if there is none.
void *taken_original(const char *name);

/// Calls the definition of `name` that would have been found without this target.
#define ORIGINAL(name, type)                                                                                \
  ({                                                                                                        \
    static void *original;                                                                                  \
    void *found = __atomic_load_n(&original, __ATOMIC_RELAXED);                                             \
    if (!found) __atomic_store_n(&original, found = taken_original(name), __ATOMIC_RELAXED);                \
    (type) found;                                                                                           \
  })

/// Whether the code at the address is under study: not the exploration's own, and of no library of the system
/// unless it is one of Foundation's locks.
bool is_under_study(uintptr_t address);

/// The same of the code that called a function of the system, whose frame is `frame`, from `address`: where that
/// is a part of Foundation that has no name, it is asked who called that.
bool is_called_by_study(uintptr_t address, const void *frame);

/// Whether the function that has this in its body was called by code under study.
#define IS_CALLED_BY_STUDY is_called_by_study(HERE, __builtin_frame_address(0))

/// Whether the code at the address takes or releases the lock of an `AsyncStream` or of an `@Observable` object: what
/// code under study calls of these is known by that lock, which is explored as its own locks are.
bool is_lock_of_library(uintptr_t address);

/// Whether a function of a mutex that has this in its body was called for code under study.
#define IS_MUTEX_OF_STUDY (IS_CALLED_BY_STUDY || is_lock_of_library(HERE))

/// Whether the code at the address is of Foundation, or of the library by way of which Swift calls Dispatch.
bool is_of_foundation(uintptr_t address);

/// Whether the address is in one of the language's own libraries: code, or what they keep for themselves.
bool is_of_runtime(uintptr_t address);

/// Whether the code at the address is the runtime's that knows the types: what it locks is for itself.
bool is_of_types(uintptr_t address);

/// Whether the compiler keeps at the address what it has looked up, which no code under study knows of.
bool is_compilers_own(uintptr_t address);

/// Whether the function around the address may try a `Mutex` without waiting for it.
bool may_try_mutex(uintptr_t address);

/// The line in which work of the queue waits for its turn.
struct exploration_line taken_line_of(void *queue);

/// Has a timer of Dispatch fire no more, or go on; false if it is none.
bool taken_suspend_timer(void *source, bool is_suspended);

bool taken_semaphore_has_permit(uintptr_t semaphore);
bool taken_group_is_empty(uintptr_t group);
bool taken_lock_is_locked(uintptr_t lock);

/// The place at `here`, and where the functions under way on the thread were called from.
struct race_place taken_place(uintptr_t here);

/// What is passed on to the library, where one function goes on in the other as if the code under study had called it.
extern _Thread_local void *taken_passed_on;

#define PASS_ON(memory, call)                                                                               \
  do {                                                                                                      \
    void *before = taken_passed_on;                                                                         \
    taken_passed_on = memory;                                                                               \
    call;                                                                                                   \
    taken_passed_on = before;                                                                               \
  } while (false)

/// Keeps memory, explored, that the code at `here` gives back, so that who uses it later is seen; false if it is to be
/// given back.
bool taken_keep_given_back(void *memory, uintptr_t here);

/// Has an object's memory start anew, for who looks for races.
void taken_forget(const void *object);

/// Has the runtime say what it puts in order: see `order.c`.
void taken_prepare_races(void);

/// The number of the calling thread, as a `Mutex` knows it.
uint32_t own_thread_number(void);

#endif
#endif
