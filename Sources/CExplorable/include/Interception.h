#ifndef CEXPLORABLE_INTERCEPTION_H
#define CEXPLORABLE_INTERCEPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Where calls that were taken over meet an exploration: `CInterception`, which only explored programs link, asks
// here; `Exploration` answers. Neither knows the other.

/// What a thread is about to do; the numbers are those of `SynchronizationOperation.Kind`.
enum exploration_point {
  point_lock = 0,
  point_try_lock = 1,
  point_load = 2,
  point_store = 3,
  point_update = 4,
  point_compare = 5,
  point_start = 9,
  point_join = 10,
  point_exchange = 11,
  point_read_lock = 12,
  point_try_read_lock = 13,
  point_wait = 14,
  point_wait_a_while = 15,
  point_signal = 16,
  point_broadcast = 17,
  point_take_permit = 18,
  point_try_permit = 19,
  point_take_permit_in_time = 20,
  point_give_permit = 21,
  point_hop = 22,
  point_check = 23,
  point_cancel = 24,
  point_begin = 25,
  point_go_on = 26,
  point_enqueue = 27,
  point_turn = 28,
  point_leave_group = 29,
  point_await_group = 30,
  point_try_group = 31,
  point_await_group_in_time = 32,
  point_register = 33,
  point_begin_wait = 34,
  point_enter_group = 35,
  point_sleep = 36,
  point_give_work = 37,
  point_suspend_queue = 38,
  point_change_timer = 39,
  point_load_weak = 40,
};

/// What an operation on an atomic of `bytes` bytes, at most 8, found and left.
struct exploration_values {
  uint64_t found;
  uint64_t left;
  uint8_t bytes;
  bool has_left;
  bool has_written;
};

/// Whose turn comes when on a dispatch queue.
struct exploration_line {
  uintptr_t queue;
  /// The queue that decides whose turn comes when: the queue itself, or the serial one whose work all of it is.
  uintptr_t root;
  /// Whether that one runs one block after the other.
  bool is_serial;
  bool is_main;
  /// Whether nothing else of the queue may run meanwhile.
  bool is_alone;
};

/// What is to run on a dispatch queue: `run` of the block, once, then `after` of the object unless it is null.
struct exploration_work {
  void (*run)(void *block);
  void *block;
  void (*after)(void *object);
  void *object;
  /// What lets go of the queue, which is kept until the work is done; null where nobody need do so.
  void (*let_go)(void *queue);
  void *queue;
};

/// What an exploration answers; called on its threads only, with points closed.
struct exploration_answers {
  /// Returns when the thread may do it; false for a try that fails and a wait whose time is over.
  bool (*pause)(uint8_t point, uintptr_t object);
  /// Notes what a comparison or an exchange, for which the thread paused, has changed.
  void (*note_outcome)(bool has_written);
  bool (*wants_values)(void);
  void (*note_values)(const struct exploration_values *values);
  /// Notes that the thread has taken a lock, without a point.
  void (*note_lock)(uintptr_t object);
  /// Notes that the lock was released.
  void (*note_release)(uintptr_t object);
  /// Notes that a reader, or the writer, has released the lock.
  void (*note_shared_release)(uintptr_t object);
  /// A writer waits, or no longer, for a lock whose readers let writers in first.
  void (*note_writer)(uintptr_t object, bool waits);
  /// Whether the thread's job holds the lock.
  bool (*holds)(uintptr_t object);
  /// Notes that the thread is to wait for a signal of `condition`; it releases `lock`.
  void (*begin_wait)(uintptr_t condition, uintptr_t lock);
  /// Whether the thread has to stop before it releases the lock: somebody has tried to take it in this schedule, or is
  /// about to. A task that waits for the lock does not count.
  bool (*stands_before_release)(uintptr_t object);
  /// Whether it has to be the turn of who waits for a lock that the thread has released again and again.
  bool (*must_let_others_take)(uintptr_t object);
  /// Nanoseconds since the schedule's beginning.
  int64_t (*now)(void);
  /// Lets so many nanoseconds pass, in which nobody else does anything.
  void (*pass)(int64_t time);
  /// Notes for how many nanoseconds the thread waits, at most, for what it pauses before next.
  void (*limit_wait)(int64_t time);
  /// The schedule's next random number.
  uint64_t (*chance)(void);
  /// Runs the work on a thread of the exploration, when its turn has come.
  void (*give_work)(const struct exploration_line *line, struct exploration_work work);
  /// Does the same when so many nanoseconds have passed.
  void (*give_later)(int64_t time, const struct exploration_line *line, struct exploration_work work);
  /// Does the same for a timer, and no more what it was to do before; with less than no time nothing any more. A timer
  /// that fires again and again keeps no schedule from its end.
  void (*give_timed)(uintptr_t timer, int64_t time, bool is_repeated, const struct exploration_line *line,
                     struct exploration_work work);
  /// Whether the schedule is over, and what is left of it only ends.
  bool (*is_left)(void);
  /// The number of the schedule.
  uint64_t (*schedule)(void);
  /// Has the thread do work of the queue, at once or from the next `point_turn` on; whether at once.
  bool (*join_line)(const struct exploration_line *line);
  /// Notes that the thread has done it.
  void (*leave_line)(void);
  /// Has the queue begin no more work, or go on with it.
  void (*suspend_line)(uintptr_t queue, bool is_suspended);
  /// Whether the thread does work of the queue, or of one whose root it is.
  bool (*is_in_line)(uintptr_t queue);
  /// The queue whose work the thread does; 0 for none.
  uintptr_t (*current_line)(void);
  /// Gives the work when the group has ended.
  void (*await_group)(uintptr_t group, const struct exploration_line *line, struct exploration_work work);
  /// Notes that the group has ended.
  void (*end_group)(uintptr_t group);
  /// Notes that the code has made a task.
  void (*note_made)(uintptr_t task);
  /// Notes that the calling task has made itself a continuation; on any thread, and whether points were open there.
  void (*begin_continuation)(uintptr_t task, bool is_explored);
  /// Notes that the continuation is resumed, if it may be: it was not before. On any thread, too.
  bool (*end_continuation)(uintptr_t task, bool is_explored);
  /// Makes ready for a thread that the code is about to start; what comes is what the exploration knows it by. `thread`
  /// is Foundation's `Thread`, an object that is there until `end_thread`; null where there is none.
  void *(*make_thread)(const void *thread);
  /// Notes that the thread, which waits, is there, by what the system knows it by; with 0 that it could not be made.
  void (*name_thread)(void *known, uintptr_t thread, bool is_joinable);
  /// Has the thread begin when its turn has come.
  void (*start_thread)(void *known);
  /// On the thread itself: returns when its turn has come, with points open.
  void (*begin_thread)(void *known);
  /// On the thread itself: notes that nothing of the code under study runs there any more.
  void (*end_thread)(void *known);
  /// Whether the schedule under way has started the thread, and its end can be waited for.
  bool (*may_join)(uintptr_t thread);
  /// Notes that the thread was waited for, if it has ended, or that nobody will wait for it.
  void (*forget_thread)(uintptr_t thread);
  /// Waits for those who slept in the runtime, and go on now that the thread has let go of what they slept for.
  void (*await_blocked)(void);
  /// Notes that the code calls a function whose work is not seen.
  void (*note_unseen)(const char *function);
  /// Notes that the code is about to end the program by that function. Returns with what status to do so, if the
  /// exploration cannot go on without the thread; else not at all.
  int (*end_program)(const char *function, int status);
};

/// What a thread of an exploration is at.
struct explored_thread {
  /// Whether the code under study runs: what it does is a point.
  int is_open;
  /// Whether the exploration has let the thread go: what it does is no point any more.
  bool is_let_go;
  /// A point that is due at the next thing that it does; 0 for none.
  uint8_t due;
  /// How many locks inside of Foundation it holds.
  uint8_t held_inside;
  /// The task whose code ran last; null before any.
  void *task;
  /// Whether instrumented code was entered since the job began.
  bool is_seen;
  /// How many objects are being let go of for the last time, one in the other.
  uint32_t dying;
  /// Where the functions under way that are instrumented were called from, as far as there is room: the depth may be
  /// more.
  uint32_t depth;
  uintptr_t callers[64];
  /// Where a task goes on that is about to hop, and its context.
  uintptr_t hop_function;
  uintptr_t hop_context;
  /// What the point that the thread stands before is about: an actor, a task, or `SUBJECT_GROUP`; 0 for the task
  /// itself.
  uintptr_t subject;
  /// How many points it has come to.
  uint32_t points;
};

/// The group whose tasks are asked about or cancelled.
#define SUBJECT_GROUP 1

extern _Thread_local struct explored_thread explored_thread;
extern struct exploration_answers exploration_answers;

/// Stands before what the calling thread is about to do, which is explored.
bool exploration_pause(uint8_t point, uintptr_t object);

/// What the exploration asks of those who take calls over.
struct interception {
  /// Whether a semaphore has a permit.
  bool (*has_permit)(uintptr_t semaphore);
  /// Whether nobody is in a dispatch group.
  bool (*is_group_empty)(uintptr_t group);
  /// Whether the first word of a lock says that somebody has it.
  bool (*is_locked)(uintptr_t lock);
  /// Whether the code at the address is under study.
  bool (*is_under_study)(uintptr_t address);
  /// Has the runtime say what it puts in order; null where memory that is used again is not seen.
  void (*prepare_races)(void);
};

/// Null where calls are not taken over.
extern const struct interception *interception;
/// How many instrumented object files have said that they are there.
extern int instrumented_files;

// For Swift, which sees no variable that changes.

/// Whether data races can be found in this program.
static inline bool races_can_be_found(void) { return interception && interception->prepare_races; }
/// Whether calls are taken over in this program.
static inline bool interception_is_linked(void) { return interception != 0; }
/// Whether some of this program's code is instrumented.
static inline bool has_instrumented_code(void) { return instrumented_files > 0; }
static inline bool semaphore_has_permit(uintptr_t semaphore) {
  return !interception || interception->has_permit(semaphore);
}
static inline bool group_is_empty(uintptr_t group) {
  return !interception || interception->is_group_empty(group);
}
static inline bool lock_is_taken(uintptr_t lock) { return interception && interception->is_locked(lock); }
static inline bool code_is_under_study(uintptr_t address) {
  return interception && interception->is_under_study(address);
}
static inline void set_exploration_answers(struct exploration_answers answers) {
  exploration_answers = answers;
}

/// How often threads that are not explored have signalled conditions while explorations were under way.
unsigned signals_from_outside(void);
/// Notes such a signal; on any thread.
void signal_from_outside(uintptr_t condition);
/// Whether the condition was signalled so, since there were so many; only the last of many are known.
bool was_signalled_from_outside(uintptr_t condition, unsigned since);

/// In how much memory something is known by its address, in the schedule under way.
extern unsigned addresses_known;
/// Notes that something at the address is known by it; whether what was known there before is gone, for its memory
/// was freed.
bool address_note(uintptr_t address);
/// Forgets all of them.
void addresses_forget(void);
/// Notes that memory is freed; on any thread.
void memory_freed(uintptr_t start, size_t size);

/// Keeps what is said of code under study on standard error, as the last of it.
void last_words_note(const char *text, size_t count);
/// What was said last since it was forgotten, `room` bytes of it at most; returns how many.
size_t last_words(char *text, size_t room);
void last_words_forget(void);
/// Writes those that were kept back to standard error; in a signal handler too.
void last_words_tell(void);
/// Has it not be printed: it will be told.
void last_words_keep_back(bool are_kept_back);
bool last_words_are_kept_back(void);

/// Whether code under study runs on the calling thread, and what it does is a point.
bool points_are_open(void);
/// Opens points on the calling thread, for what begins on it.
void points_open(void);
/// Closes points on the calling thread; returns whether they were open.
bool points_close(void);
void points_reopen(bool were_open);
/// Closes points on the calling thread for ever.
void points_end(void);
/// Has the next thing that the code under study does be a point.
void points_are_due(uint8_t point);
/// Whether the calling thread has entered instrumented code since its job began.
bool points_seen(void);
/// What the point is about that the calling thread stands before, as `explored_thread` says.
uintptr_t subject_of_point(void);
/// Where the calling thread's task, which is about to hop, goes on, and its callers; returns how many, at most
/// `room`.
unsigned long points_of_hop(uintptr_t *points, unsigned long room);

#endif
