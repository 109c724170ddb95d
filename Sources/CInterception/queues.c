#define KIND_TOUCHED touch_of_queue
#include "Taken.h"

#ifndef NOTHING_IS_TAKEN

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Dispatch queues and groups. Explored, the work that is given to a queue runs on a thread of the exploration when
// its turn has come, which the exploration decides: one after the other on a serial queue, side by side on a
// concurrent one, but for barriers.
//
// Foundation's own work on queues is taken too: who called Dispatch's library cannot be told from its frames.
//
// Timers have a file of their own. Other sources and I/O of Dispatch are its own, and so is what a thread that is not
// explored gives to a queue.

typedef void queue_work_function(void *queue, void *block);
typedef void *make_queue_function(const char *label, void *attributes);

// MARK: Blocks

typedef void *copy_block_function(const void *);

static void *copied(void *block) { return ORIGINAL("_Block_copy", copy_block_function *)(block); }

/// What orders who has a queue go on before the blocks that begin then. Which queue it was is not kept: blocks of
/// another one are in that order, too.
static char resumed;

/// Runs a block that was kept, and lets go of it.
static void run_block(void *block) {
  ACQUIRE(block);
  if (IS_ORDER_NOTED) race_acquire((uintptr_t)&resumed);
  ((struct block *)block)->invoke(block);
  taken_end_block(block);
  _Block_release(block);
}

// MARK: Kinds of queues

typedef void *make_targeting_function(const char *label, void *attributes, void *target);

/// Where a queue has the number of blocks that it runs at once, as two bytes, and where the queue that is its target;
/// 0 if that is not known.
static size_t width_offset, target_offset;

/// Finds them by looking at a queue of each kind.
static void find_offsets(void) {
  extern char _dispatch_queue_attr_concurrent __attribute__((weak));
  make_queue_function *make = dlsym(RTLD_DEFAULT, "dispatch_queue_create");
  make_targeting_function *make_targeting = dlsym(RTLD_DEFAULT, "dispatch_queue_create_with_target");
  if (!make || !make_targeting || !&_dispatch_queue_attr_concurrent) return;
  const char *serial = make("serial", NULL), *concurrent = make("concurrent", &_dispatch_queue_attr_concurrent);
  const char *targeting = make_targeting("targeting", NULL, (void *)serial);
  size_t widths = 0, targets = 0;
  for (size_t offset = 8; offset < 120; offset += 2) {
    uint16_t one, many;
    memcpy(&one, serial + offset, sizeof one);
    memcpy(&many, concurrent + offset, sizeof many);
    if (one == 1 && many >= 0xFF0) {
      widths++;
      width_offset = offset;
    }
    const void *target;
    memcpy(&target, targeting + offset, sizeof target);
    if (offset % sizeof target == 0 && target == serial) {
      targets++;
      target_offset = offset;
    }
  }
  // In two places neither is certain.
  if (widths != 1) width_offset = 0;
  if (targets != 1) target_offset = 0;
}

/// Whether one block runs after the other; what is not known is taken for serial, as most queues are.
static bool is_serial(const void *queue) {
  if (!width_offset) return true;
  uint16_t width;
  memcpy(&width, (const char *)queue + width_offset, sizeof width);
  return width == 1;
}

/// The queue's target; null where it has none, as those of the system, or where that is not known.
static void *target_of(const void *queue) {
  void *target = NULL;
  if (target_offset) memcpy(&target, (const char *)queue + target_offset, sizeof target);
  return target;
}

/// The last serial queue among the queue, its target, that one's, and so on; else the queue itself.
static const void *root_of(const void *queue) {
  const void *root = queue;
  // A circle would stop the program elsewhere.
  for (int step = 0; step < 8 && (queue = target_of(queue)); step++) {
    if (is_serial(queue)) root = queue;
  }
  return root;
}

/// Whether the queue is the main one, whose work is the main actor's too.
static bool is_main(const void *queue) {
  extern char _dispatch_main_q __attribute__((weak));
  return &_dispatch_main_q && queue == &_dispatch_main_q;
}

/// The line of the block, which has it to itself if it must, or if the block wants so.
static struct exploration_line line_of(void *queue, const void *block, bool is_alone) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_offsets);
  const void *root = root_of(queue);
  // On a queue that all share nobody can be alone.
  bool is_shared = target_offset && !target_of(queue) && !is_main(queue);
  bool wants_to_be_alone = block && taken_note_given(block);
  return (struct exploration_line){.queue = (uintptr_t)queue, .root = (uintptr_t)root,
    .is_serial = is_serial(root), .is_main = is_main(root),
    .is_alone = !is_shared && (is_alone || wants_to_be_alone)};
}

struct exploration_line taken_line_of(void *queue) { return line_of(queue, NULL, false); }

// MARK: Work

typedef void keep_function(void *);

static void *kept_queue(void *queue) {
  ORIGINAL("dispatch_retain", keep_function *)(queue);
  return queue;
}

static void let_go(void *queue) { ORIGINAL("dispatch_release", keep_function *)(queue); }

/// Gives the block to the queue; `after`, if there is one, is done with `object` when it has run.
static void give(void *queue, void *block, bool is_alone, void (*after)(void *), void *object) {
  bool were_open = points_close();
  struct exploration_line line = line_of(queue, block, is_alone);
  void *kept = copied(block);
  points_reopen(were_open);
  RELEASE(kept);
  exploration_pause(point_give_work, line.queue);
  were_open = points_close();
  exploration_answers.give_work(&line,
    (struct exploration_work){run_block, kept, after, object, let_go, kept_queue(queue)});
  points_reopen(were_open);
  // The work may be over before who gave it goes on.
  points_are_due(point_go_on);
}

/// Runs a block whose giver waits for its end, and so keeps it.
static void run_kept_block(void *block) {
  ACQUIRE(block);
  ((struct block *)block)->invoke(block);
  taken_end_block(block);
}

// Those that are taken over, so that the wait is a point like any other.
extern void *dispatch_semaphore_create(intptr_t value);
extern intptr_t dispatch_semaphore_wait(void *semaphore, uint64_t time);
extern intptr_t dispatch_semaphore_signal(void *semaphore);
extern void dispatch_release(void *object);

static void tell_end(void *semaphore) { dispatch_semaphore_signal(semaphore); }

/// Has the main queue run the block, which is where the main actor's jobs run, one after the other, and waits for its
/// end. Who is there already waits for ever.
static void run_on_main(void *queue, void *block, struct exploration_line line) {
  bool were_open = points_close();
  void *end = dispatch_semaphore_create(0);
  points_reopen(were_open);
  RELEASE(block);
  exploration_pause(point_give_work, line.queue);
  were_open = points_close();
  exploration_answers.give_work(&line,
    (struct exploration_work){run_kept_block, block, tell_end, end, let_go, kept_queue(queue)});
  points_reopen(were_open);
  dispatch_semaphore_wait(end, all_time);
  dispatch_release(end);
}

/// Runs the block on the calling thread when its turn has come.
static void run_in_turn(void *queue, void *block, bool is_alone) {
  bool were_open = points_close();
  struct exploration_line line = line_of(queue, block, is_alone);
  points_reopen(were_open);
  if (line.is_main) return run_on_main(queue, block, line);
  exploration_pause(point_enqueue, line.queue);
  were_open = points_close();
  bool is_turn = exploration_answers.join_line(&line);
  points_reopen(were_open);
  if (!is_turn) exploration_pause(point_turn, line.queue);
  race_begin_turn(&line);
  TOUCH(block, false);
  ((struct block *)block)->invoke(block);
  taken_end_block(block);
  race_end_turn(&line);
  were_open = points_close();
  exploration_answers.leave_line();
  points_reopen(were_open);
}

#define WORK(name, do)                                                                                      \
  TAKEN void name(void *queue, void *block) {                                                               \
    queue_work_function *original = ORIGINAL(#name, queue_work_function *);                                 \
    if (!IS_EXPLORED) return original(queue, block);                             \
    do;                                                                                                     \
  }

WORK(dispatch_async, give(queue, block, false, NULL, NULL))
WORK(dispatch_barrier_async, give(queue, block, true, NULL, NULL))
WORK(dispatch_sync, run_in_turn(queue, block, false))
WORK(dispatch_barrier_sync, run_in_turn(queue, block, true))
WORK(dispatch_async_and_wait, run_in_turn(queue, block, false))
WORK(dispatch_barrier_async_and_wait, run_in_turn(queue, block, true))

// MARK: Work that is cancelled

// Whether it is, is an atomic of Dispatch.

typedef void cancel_block_function(void *block);
typedef intptr_t test_block_function(void *block);

/// Stands where work may begin that was given before.
static void stand_if_due(void) {
  if (IS_EXPLORED && explored_thread.due) exploration_pause(explored_thread.due, 0);
}

TAKEN void dispatch_block_cancel(void *block) {
  stand_if_due();
  TOUCH(block, true);
  ORIGINAL("dispatch_block_cancel", cancel_block_function *)(block);
}

TAKEN intptr_t dispatch_block_testcancel(void *block) {
  stand_if_due();
  TOUCH(block, false);
  return ORIGINAL("dispatch_block_testcancel", test_block_function *)(block);
}

// MARK: Queues that are suspended

typedef void suspend_function(void *);

static void suspend_unseen(void *queue, bool is_suspended) {
  bool were_open = points_close();
  exploration_answers.suspend_line((uintptr_t)queue, is_suspended);
  points_reopen(were_open);
}

/// Has a queue or a timer begin no more work, or go on with it. Other sources are no queues, and have no line.
static void suspend(void *queue, bool is_suspended) {
  if (taken_suspend_timer(queue, is_suspended)) return;
  exploration_pause(point_suspend_queue, (uintptr_t)queue);
  suspend_unseen(queue, is_suspended);
}

TAKEN void dispatch_suspend(void *object) {
  if (IS_EXPLORED) suspend(object, true);
  // It wakes threads of Dispatch, at its first use others than later.
  bool were_open = points_close();
  ORIGINAL("dispatch_suspend", suspend_function *)(object);
  points_reopen(were_open);
}

void taken_note_resumed(void) {
  if (IS_ORDER_NOTED) race_release((uintptr_t)&resumed);
}

TAKEN void dispatch_resume(void *object) {
  taken_note_resumed();
  if (IS_EXPLORED) suspend(object, false);
  // It wakes threads of Dispatch, at its first use others than later.
  bool were_open = points_close();
  ORIGINAL("dispatch_resume", suspend_function *)(object);
  points_reopen(were_open);
}

// MARK: Queues that are inactive at first

extern void *dispatch_queue_attr_make_initially_inactive(void *attributes);

/// Those of the schedule under way that nobody has activated; of more than there is room for, work begins at once.
static struct {
  void *queue;
  uint64_t schedule;
} inactive[64];

#define MOST_INACTIVE (sizeof inactive / sizeof *inactive)

/// Notes a queue that code under study has made. There is one object of each kind of attributes.
static void *noted_queue(void *queue, void *attributes) {
  if (!attributes || dispatch_queue_attr_make_initially_inactive(attributes) != attributes) return queue;
  for (size_t index = 0; index < MOST_INACTIVE; index++) {
    if (inactive[index].queue && inactive[index].schedule == taken_schedule()) continue;
    inactive[index].queue = queue;
    inactive[index].schedule = taken_schedule();
    suspend_unseen(queue, true);
    break;
  }
  return queue;
}

void taken_activate_queue(void *queue) {
  for (size_t index = 0; IS_EXPLORED && index < MOST_INACTIVE; index++) {
    if (inactive[index].queue != queue || inactive[index].schedule != taken_schedule()) continue;
    exploration_pause(point_suspend_queue, (uintptr_t)queue);
    inactive[index].queue = NULL;
    suspend_unseen(queue, false);
  }
}

typedef void *create_function(const char *, void *);
typedef void *create_with_target_function(const char *, void *, void *);

TAKEN void *dispatch_queue_create(const char *label, void *attributes) {
  void *queue = ORIGINAL("dispatch_queue_create", create_function *)(label, attributes);
  return IS_EXPLORED ? noted_queue(queue, attributes) : queue;
}

TAKEN void *dispatch_queue_create_with_target(const char *label, void *attributes, void *target) {
  void *queue = ORIGINAL("dispatch_queue_create_with_target", create_with_target_function *)(label, attributes, target);
  return IS_EXPLORED ? noted_queue(queue, attributes) : queue;
}

// MARK: On which queue one is

typedef void assert_function(void *);
typedef void *get_specific_function(const void *);
typedef void *queue_get_specific_function(void *, const void *);

/// Whether the calling thread, explored, does work of the queue.
static bool is_on(void *queue) {
  if (!IS_EXPLORED) return false;
  bool were_open = points_close();
  bool is_on = exploration_answers.is_in_line((uintptr_t)queue);
  points_reopen(were_open);
  return is_on;
}

TAKEN void dispatch_assert_queue(void *queue) {
  assert_function *original = ORIGINAL("dispatch_assert_queue", assert_function *);
  if (!is_on(queue)) original(queue);
}

TAKEN void dispatch_assert_queue_barrier(void *queue) {
  assert_function *original = ORIGINAL("dispatch_assert_queue_barrier", assert_function *);
  if (!is_on(queue)) original(queue);
}

TAKEN void dispatch_assert_queue_not(void *queue) {
  assert_function *original = ORIGINAL("dispatch_assert_queue_not", assert_function *);
  if (is_on(queue)) {
    fputs("dispatchPrecondition(condition: .notOnQueue) was not met: this is work of that queue\n", stderr);
    abort();
  }
  original(queue);
}

TAKEN void *dispatch_get_specific(const void *key) {
  get_specific_function *original = ORIGINAL("dispatch_get_specific", get_specific_function *);
  if (!IS_EXPLORED) return original(key);
  bool were_open = points_close();
  void *queue = (void *)exploration_answers.current_line();
  void *found = queue ? NULL : original(key);
  // What a queue does not have, its target may.
  for (int step = 0; queue && !found && step < 8; step++, queue = target_of(queue)) {
    found = ORIGINAL("dispatch_queue_get_specific", queue_get_specific_function *)(queue, key);
  }
  points_reopen(were_open);
  return found;
}

// MARK: Groups

typedef void group_function(void *group);
typedef void group_work_function(void *group, void *queue, void *block);
typedef intptr_t group_wait_function(void *group, uint64_t time);

bool taken_group_is_empty(uintptr_t group) {
  return ORIGINAL("dispatch_group_wait", group_wait_function *)((void *)group, no_time) == 0;
}

typedef void *make_group_function(void);

/// Where a group has its count, as four bytes of which the lower two bits say something else, and what stands there
/// when one has entered it; 0 if that is not known.
static size_t count_offset;
static uint32_t count_of_one;

/// Finds it by looking at a group.
static void find_count(void) {
  char *group = ORIGINAL("dispatch_group_create", make_group_function *)();
  uint32_t before[16], now;
  memcpy(before, group + 8, sizeof before);
  ORIGINAL("dispatch_group_enter", group_function *)(group);
  size_t found = 0;
  for (size_t word = 0; word < 16; word++) {
    memcpy(&now, group + 8 + 4 * word, sizeof now);
    // The count of who has the group is another that may change.
    if (before[word] & 3 || before[word] - now != 4) continue;
    found++;
    count_offset = 8 + 4 * word;
    count_of_one = now;
  }
  if (found != 1) count_offset = 0;
  ORIGINAL("dispatch_group_leave", group_function *)(group);
  ORIGINAL("dispatch_release", group_function *)(group);
}

static bool has_one_member(const void *group) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_count);
  uint32_t count;
  memcpy(&count, (const char *)group + count_offset, sizeof count);
  return count_offset && (count & ~3u) == count_of_one;
}

/// Gives those their work who wait for the group's end, behind all who have left it.
static void end_group(void *group) {
  ACQUIRE(DISPATCH_ORDER(group));
  bool were_open = points_close();
  exploration_answers.end_group((uintptr_t)group);
  points_reopen(were_open);
}

/// Leaves the group where that was explored.
void taken_leave_group(void *group) {
  RELEASE(DISPATCH_ORDER(group));
  // Nothing is left of a group that nobody has but its members, when the last of them has left it.
  bool is_last = has_one_member(group);
  if (is_last) end_group(group);
  ORIGINAL("dispatch_group_leave", group_function *)(group);
  if (!is_last && !count_offset && taken_group_is_empty((uintptr_t)group)) end_group(group);
}

TAKEN void dispatch_group_enter(void *group) {
  group_function *original = ORIGINAL("dispatch_group_enter", group_function *);
  if (IS_EXPLORED) exploration_pause(point_enter_group, (uintptr_t)group);
  original(group);
}

TAKEN void dispatch_group_leave(void *group) {
  group_function *original = ORIGINAL("dispatch_group_leave", group_function *);
  if (!IS_EXPLORED) return original(group);
  exploration_pause(point_leave_group, (uintptr_t)group);
  taken_leave_group(group);
  // A block that is performed leaves a group of its own.
  taken_end_performed_blocks();
}

TAKEN void dispatch_group_async(void *group, void *queue, void *block) {
  group_work_function *original = ORIGINAL("dispatch_group_async", group_work_function *);
  if (!IS_EXPLORED) return original(group, queue, block);
  ORIGINAL("dispatch_group_enter", group_function *)(group);
  give(queue, block, false, taken_leave_group, group);
}

TAKEN void dispatch_group_notify(void *group, void *queue, void *block) {
  group_work_function *original = ORIGINAL("dispatch_group_notify", group_work_function *);
  if (!IS_EXPLORED) return original(group, queue, block);
  bool were_open = points_close();
  struct exploration_line line = line_of(queue, block, false);
  void *kept = copied(block);
  points_reopen(were_open);
  RELEASE(kept);
  exploration_pause(point_give_work, line.queue);
  were_open = points_close();
  exploration_answers.await_group((uintptr_t)group, &line,
    (struct exploration_work){run_block, kept, NULL, NULL, let_go, kept_queue(queue)});
  bool is_over = taken_group_is_empty((uintptr_t)group);
  points_reopen(were_open);
  if (is_over) end_group(group);
}

TAKEN intptr_t dispatch_group_wait(void *group, uint64_t time) {
  group_wait_function *original = ORIGINAL("dispatch_group_wait", group_wait_function *);
  if (!IS_EXPLORED) return original(group, time);
  uint8_t point = time == no_time    ? point_try_group
                  : time == all_time ? point_await_group
                                     : point_await_group_in_time;
  taken_limit_wait(time);
  exploration_pause(point, (uintptr_t)group);
  intptr_t result = original(group, time == all_time ? all_time : no_time);
  if (result == 0) ACQUIRE(DISPATCH_ORDER(group));
  return result;
}

// MARK: Work that comes later, and work side by side

// When it comes is the schedule's own time. Each part of what is done side by side has a thread of its own.

typedef void later_function(uint64_t time, void *queue, void *block);

TAKEN void dispatch_after(uint64_t time, void *queue, void *block) {
  later_function *original = ORIGINAL("dispatch_after", later_function *);
  // What is never to be done is not kept either.
  if (!IS_EXPLORED || time == all_time) return original(time, queue, block);
  if (time == no_time) return give(queue, block, false, NULL, NULL);
  bool were_open = points_close();
  struct exploration_line line = line_of(queue, block, false);
  void *kept = copied(block);
  points_reopen(were_open);
  RELEASE(kept);
  exploration_pause(point_give_work, line.queue);
  int64_t left = taken_time_until(time);
  were_open = points_close();
  exploration_answers.give_later(left, &line,
    (struct exploration_work){run_block, kept, NULL, NULL, let_go, kept_queue(queue)});
  points_reopen(were_open);
  // Its time may be over, and the work too, before who gave it goes on.
  points_are_due(point_go_on);
}

struct part {
  struct block *block;
  size_t index;
};

static void do_part(void *given) {
  struct part *part = given;
  ACQUIRE(part->block);
  ((void (*)(void *, size_t))part->block->invoke)(part->block, part->index);
}

typedef void apply_function(size_t count, void *queue, void *block);

/// The calling thread does the first part, and then waits for the others.
TAKEN void dispatch_apply(size_t count, void *queue, void *block) {
  apply_function *original = ORIGINAL("dispatch_apply", apply_function *);
  if (!IS_EXPLORED || count == 0) return original(count, queue, block);
  bool were_open = points_close();
  struct part *parts = calloc(count, sizeof *parts);
  void *group = ORIGINAL("dispatch_group_create", make_group_function *)();
  points_reopen(were_open);
  if (!parts) abort();
  RELEASE(block);
  for (size_t index = 0; index < count; index++) {
    parts[index] = (struct part){block, index};
    if (index == 0) continue;
    ORIGINAL("dispatch_group_enter", group_function *)(group);
    were_open = points_close();
    // In line where nobody else is: nothing has the part's address but the part.
    struct exploration_line line = {.queue = (uintptr_t)&parts[index], .root = (uintptr_t)&parts[index]};
    exploration_answers.give_work(&line,
      (struct exploration_work){do_part, &parts[index], taken_leave_group, group, NULL, NULL});
    points_reopen(were_open);
  }
  uintptr_t before = race_share_stack((uintptr_t)__builtin_frame_address(0));
  // The other parts may be over before the first begins.
  if (count > 1) exploration_pause(point_go_on, 0);
  do_part(parts);
  dispatch_group_wait(group, all_time);
  race_share_stack(before);
  were_open = points_close();
  free(parts);
  ORIGINAL("dispatch_release", group_function *)(group);
  points_reopen(were_open);
}

#endif
