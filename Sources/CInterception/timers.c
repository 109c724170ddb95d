#define KIND_TOUCHED touch_of_queue
#include "Taken.h"

#ifndef NOTHING_IS_TAKEN

#include <stdlib.h>

// Timers of Dispatch. Explored, one fires when the schedule's own time has come, and its handler is work of its queue.
//
// The real source is begun, suspended and cancelled as the code asks, so that it may be let go of, but it is given
// neither a time nor a handler: it never fires. Only threads that are explored touch what is kept here, one at a time.

#define KEPT_TIMERS 256

typedef void *make_source_function(const void *type, uintptr_t handle, uintptr_t mask, void *queue);
typedef void source_function(void *source);
typedef void set_handler_function(void *source, void *block);
typedef void set_timer_function(void *source, uint64_t start, uint64_t interval, uint64_t leeway);
typedef uintptr_t data_function(void *source);
typedef intptr_t test_function(void *source);
typedef void *global_queue_function(intptr_t, uintptr_t);

struct timer {
  /// Null where no timer is kept.
  void *source;
  void *queue;
  struct block *handler, *cancel_handler;
  /// When it fires first, as a time of Dispatch, and how many nanoseconds it takes from each time to the next.
  uint64_t start, interval;
  /// How many have it.
  int owners;
  int suspensions;
  bool is_set, is_cancelled;
  /// Whether its time came while it was suspended.
  bool is_due;
  /// In which schedule it was made: where it lay another object may lie in a later one.
  uint64_t schedule;
};

static struct timer timers[KEPT_TIMERS];
static size_t last_timer;

uint64_t taken_schedule(void) {
  bool were_open = points_close();
  uint64_t schedule = exploration_answers.schedule();
  points_reopen(were_open);
  return schedule;
}

static struct timer *find(const void *source) {
  if (!source || !IS_EXPLORED) return NULL;
  struct timer *found = NULL;
  for (size_t index = 0; index < KEPT_TIMERS && !found; index++) {
    if (timers[index].source == source) found = &timers[index];
  }
  return found && found->schedule == taken_schedule() ? found : NULL;
}

static void release_block(struct block *block) {
  if (block) _Block_release(block);
}

static struct block *copy_of_block(void *block) {
  return block ? ORIGINAL("_Block_copy", void *(*)(const void *))(block) : NULL;
}

/// What the real source does wakes threads of Dispatch, at its first use others than later: nothing to be explored.
#define UNSEEN(call)                                                                                        \
  ({                                                                                                        \
    bool were_open = points_close();                                                                        \
    call;                                                                                                   \
    points_reopen(were_open);                                                                               \
  })

// MARK: Firing

static void arm(struct timer *timer, int64_t time);

static void fire(void *argument) {
  struct timer *timer = argument;
  if (!timer->source || timer->is_cancelled) return;
  if (timer->suspensions > 0) {
    timer->is_due = true;
    return;
  }
  ACQUIRE(DISPATCH_ORDER(timer->source));
  void *source = timer->source;
  // The handler may let go of itself.
  struct block *handler = copy_of_block(timer->handler);
  if (handler) handler->invoke(handler);
  release_block(handler);
  // The handler may have cancelled it, or set it anew; what comes next comes behind the handler.
  if (timer->source != source || timer->is_cancelled || !timer->is_set) return;
  if (timer->interval < INT64_MAX) arm(timer, (int64_t)timer->interval);
  else timer->is_set = false;
}

/// Has it fire when so many nanoseconds have passed, and not when it was to fire before.
static void arm(struct timer *timer, int64_t time) {
  bool were_open = points_close();
  struct exploration_line line = taken_line_of(timer->queue);
  exploration_answers.give_timed((uintptr_t)timer, time, timer->interval < INT64_MAX, &line,
    (struct exploration_work){fire, timer, NULL, NULL, NULL, NULL});
  points_reopen(were_open);
}

static void disarm(struct timer *timer) {
  bool were_open = points_close();
  exploration_answers.give_timed((uintptr_t)timer, -1, false, NULL, (struct exploration_work){0});
  points_reopen(were_open);
}

/// Has it fire at its time, if it has one and may.
static void begin(struct timer *timer) {
  if (!timer->is_set || timer->is_cancelled || timer->suspensions > 0 || timer->start == all_time) return;
  RELEASE(DISPATCH_ORDER(timer->source));
  arm(timer, timer->start == no_time ? 1 : taken_time_until(timer->start));
}

// MARK: What the code asks for

TAKEN void *dispatch_source_create(const void *type, uintptr_t handle, uintptr_t mask, void *queue) {
  extern char _dispatch_source_type_timer __attribute__((weak));
  void *source;
  UNSEEN(source = ORIGINAL("dispatch_source_create", make_source_function *)(type, handle, mask, queue));
  if (!source || !IS_EXPLORED || &_dispatch_source_type_timer != type) return source;
  struct timer *kept = &timers[last_timer++ % KEPT_TIMERS];
  // Who was kept here is forgotten, but not let go of: what its handlers hold might end in the middle of this.
  disarm(kept);
  if (!queue) queue = ORIGINAL("dispatch_get_global_queue", global_queue_function *)(0, 0);
  *kept = (struct timer){.source = source, .queue = queue, .start = all_time, .owners = 1, .suspensions = 1,
    .schedule = taken_schedule()};
  return source;
}

TAKEN void dispatch_source_set_event_handler(void *source, void *block) {
  struct timer *timer = find(source);
  if (!timer) return ORIGINAL("dispatch_source_set_event_handler", set_handler_function *)(source, block);
  struct block *before = timer->handler;
  timer->handler = copy_of_block(block);
  release_block(before);
}

TAKEN void dispatch_source_set_cancel_handler(void *source, void *block) {
  struct timer *timer = find(source);
  if (!timer) return ORIGINAL("dispatch_source_set_cancel_handler", set_handler_function *)(source, block);
  struct block *before = timer->cancel_handler;
  timer->cancel_handler = copy_of_block(block);
  release_block(before);
}

TAKEN void dispatch_source_set_timer(void *source, uint64_t start, uint64_t interval, uint64_t leeway) {
  struct timer *timer = find(source);
  if (!timer) {
    return ORIGINAL("dispatch_source_set_timer", set_timer_function *)(source, start, interval, leeway);
  }
  exploration_pause(point_change_timer, (uintptr_t)source);
  timer->start = start;
  timer->interval = interval;
  timer->is_set = true;
  timer->is_due = false;
  disarm(timer);
  begin(timer);
}

/// What is let go of behind all that the timer has begun: there may be no timer any more.
struct ending {
  uintptr_t order;
  struct block *handler, *cancel_handler;
};

static void end(void *argument) {
  struct ending *ending = argument;
  ACQUIRE(ending->order);
  if (ending->cancel_handler) ending->cancel_handler->invoke(ending->cancel_handler);
  release_block(ending->handler);
  release_block(ending->cancel_handler);
  bool were_open = points_close();
  free(ending);
  points_reopen(were_open);
}

/// It fires no more; its handlers are let go of as work of its queue.
static void cancel(struct timer *timer) {
  if (timer->is_cancelled) return;
  timer->is_cancelled = true;
  disarm(timer);
  RELEASE(DISPATCH_ORDER(timer->source));
  if (timer->suspensions > 0) return;
  bool were_open = points_close();
  struct ending *ending = malloc(sizeof *ending);
  if (!ending) abort();
  *ending = (struct ending){DISPATCH_ORDER(timer->source), timer->handler, timer->cancel_handler};
  timer->handler = timer->cancel_handler = NULL;
  struct exploration_line line = taken_line_of(timer->queue);
  exploration_answers.give_work(&line, (struct exploration_work){end, ending, NULL, NULL, NULL, NULL});
  points_reopen(were_open);
}

TAKEN void dispatch_source_cancel(void *source) {
  struct timer *timer = find(source);
  if (timer) {
    exploration_pause(point_change_timer, (uintptr_t)source);
    cancel(timer);
    points_are_due(point_go_on);
  }
  UNSEEN(ORIGINAL("dispatch_source_cancel", source_function *)(source));
}

TAKEN intptr_t dispatch_source_testcancel(void *source) {
  if (find(source)) exploration_pause(point_change_timer, (uintptr_t)source);
  return ORIGINAL("dispatch_source_testcancel", test_function *)(source);
}

/// How often it has fired since the handler ran last.
TAKEN uintptr_t dispatch_source_get_data(void *source) {
  return find(source) ? 1 : ORIGINAL("dispatch_source_get_data", data_function *)(source);
}

bool taken_suspend_timer(void *source, bool is_suspended) {
  struct timer *timer = find(source);
  if (!timer) return false;
  exploration_pause(point_change_timer, (uintptr_t)source);
  timer->suspensions += is_suspended ? 1 : -1;
  if (timer->suspensions != 0 || is_suspended) return true;
  if (timer->is_cancelled) {
    // The work that was put off.
    timer->is_cancelled = false;
    cancel(timer);
  } else if (timer->is_due) {
    timer->is_due = false;
    RELEASE(DISPATCH_ORDER(source));
    arm(timer, 1);
  } else {
    begin(timer);
  }
  return true;
}

TAKEN void dispatch_activate(void *object) {
  taken_note_resumed();
  taken_activate_queue(object);
  struct timer *timer = find(object);
  // A second time it does nothing.
  if (timer && timer->suspensions == 1) taken_suspend_timer(object, false);
  UNSEEN(ORIGINAL("dispatch_activate", source_function *)(object));
}

TAKEN void dispatch_retain(void *object) {
  struct timer *timer = find(object);
  if (timer) timer->owners++;
  ORIGINAL("dispatch_retain", source_function *)(object);
}

/// A timer that nobody has fires no more.
TAKEN void dispatch_release(void *object) {
  struct timer *timer = find(object);
  if (timer && --timer->owners == 0) {
    disarm(timer);
    // To let go of one that is suspended stops the program. Where a schedule is left, it would have gone on.
    bool were_open = points_close();
    bool is_left = exploration_answers.is_left();
    for (; is_left && timer->suspensions > 0; timer->suspensions--) {
      ORIGINAL("dispatch_resume", source_function *)(object);
    }
    points_reopen(were_open);
    struct block *handler = timer->handler, *cancel_handler = timer->cancel_handler;
    *timer = (struct timer){.source = NULL};
    release_block(handler);
    release_block(cancel_handler);
  }
  source_function *original = ORIGINAL("dispatch_release", source_function *);
  // Of another object, as a semaphore that somebody has taken, it stops the program in the name of the code.
  if (!timer) return original(object);
  UNSEEN(original(object));
}

#endif
