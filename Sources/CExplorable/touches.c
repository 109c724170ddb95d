#define _GNU_SOURCE
#include "CExplorable.h"
#include "pages.h"

#include <sched.h>
#include <string.h>

// As in `races.c` one thread of an exploration runs at a time, but for one that was called blocked; and the functions
// of the allocator may come here.

int touches_are_noted = 0;

/// The kinds that are not noted.
static uint32_t touches_overlooked = 0;

static volatile char busy;

static void enter(void) {
  while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) sched_yield();
}

static void leave(void) { __atomic_clear(&busy, __ATOMIC_RELEASE); }

/// What is known of eight bytes, or of a number.
struct thing {
  uintptr_t at;
  uint32_t generation;
  /// In which step it was touched last, and whether that writes.
  uint32_t step;
  bool is_written;
  /// The step that wrote last, and the sum of those that have read since.
  uint64_t writer, readers;
};

/// Tells what belongs to the schedule under way.
static uint32_t generation = 0;
static struct thing *things;
static size_t thing_room, thing_count;

/// The step under way, counted from 1, and what has become of its number.
static uint32_t step;
static uint64_t number;
static bool is_behind_all;
static uint64_t sum, last_behind_all;

/// What the step under way has touched.
#define MOST_TOUCHED 4096
static uintptr_t touched[MOST_TOUCHED];
static size_t touched_count;

/// In which lines of 64 bytes something may be known, so that what is freed elsewhere, most of it, is not gone through.
#define LINES 65536
static uint64_t lines[LINES / 64];

/// How often a step has touched more than can be kept, in all schedules.
static uint64_t overflows;

/// Makes the step under way like no other, and all that come behind it.
///
/// What it has touched is not kept, so nobody could tell who finds which part of it. Nothing is left from here on.
static void overflow(void) {
  is_behind_all = true;
  number = touch_mix(number, ++overflows);
}

static uint64_t *word_of_line(uintptr_t at) { return &lines[(at >> 6 & (LINES - 1)) >> 6]; }
static uint64_t bit_of_line(uintptr_t at) { return 1ull << (at >> 6 & 63); }

/// The jobs of the step under way that the runtime has enqueued, and those of them, and others, that have come.
#define MOST_JOBS 256
static uintptr_t released[MOST_JOBS], admitted[MOST_JOBS];
static size_t released_count, admitted_count;
/// Whether an actor has been entered in this schedule.
static bool has_actors;

static size_t slot_of(uintptr_t at, size_t room) {
  return (size_t)((at >> 3) * 0x9E3779B97F4A7C15ull >> 20) & (room - 1);
}

static struct thing *find(uintptr_t at, struct thing *table, size_t room) {
  size_t slot = slot_of(at, room);
  while (table[slot].generation == generation && table[slot].at != at) slot = (slot + 1) & (room - 1);
  return &table[slot];
}

#define MOST_THINGS ((size_t)1 << 20)

static bool make_room(void) {
  if (thing_room && thing_count * 2 < thing_room) return true;
  size_t room = thing_room ? thing_room * 2 : (size_t)1 << 12;
  if (room > MOST_THINGS) return false;
  struct thing *table = reserve_pages(room * sizeof *table);
  if (!table) return false;
  for (size_t slot = 0; slot < thing_room; slot++) {
    if (things[slot].generation == generation) *find(things[slot].at, table, room) = things[slot];
  }
  if (things) give_back_pages(things, thing_room * sizeof *things);
  things = table;
  thing_room = room;
  return true;
}

static uintptr_t key_of(uintptr_t at) { return at & ~(uintptr_t)7; }

void touches_begin(uint32_t overlooked) {
  if (interception && interception->prepare_races) interception->prepare_races();
  enter();
  generation++;
  if (generation == 0) {
    for (size_t slot = 0; slot < thing_room; slot++) things[slot].generation = 0;
    generation = 1;
  }
  if (thing_count) memset(lines, 0, sizeof lines);
  thing_count = touched_count = 0;
  touches_overlooked = overlooked;
  step = 1;
  number = sum = last_behind_all = 0;
  is_behind_all = has_actors = false;
  released_count = admitted_count = 0;
  leave();
  __atomic_store_n(&touches_are_noted, 1, __ATOMIC_RELEASE);
}

void touches_end(void) { __atomic_store_n(&touches_are_noted, 0, __ATOMIC_RELEASE); }

void touches_begin_step(uint64_t value) {
  enter();
  step++;
  touched_count = released_count = admitted_count = 0;
  is_behind_all = false;
  number = touch_mix(last_behind_all, value);
  leave();
}

void touch_everything(enum touch_kind kind) {
  if (!(kind & touches_overlooked)) is_behind_all = true;
}

void touch_value(enum touch_kind kind, uint64_t value) {
  if (kind & touches_overlooked) return;
  enter();
  number = touch_mix(number, value);
  leave();
}

void touch(enum touch_kind kind, uintptr_t at, bool writes) {
  if (kind & touches_overlooked) return;
  at = key_of(at);
  enter();
  if (make_room()) {
    struct thing *thing = find(at, things, thing_room);
    if (thing->generation != generation) {
      *thing = (struct thing){.at = at, .generation = generation};
      thing_count++;
      *word_of_line(at) |= bit_of_line(at);
    }
    if (thing->step != step) {
      thing->step = step;
      thing->is_written = false;
      if (touched_count < MOST_TOUCHED) touched[touched_count++] = at; else overflow();
      number = touch_mix(number, thing->writer);
    }
    if (writes && !thing->is_written) {
      thing->is_written = true;
      number = touch_mix(number, thing->readers + 1);
    }
  } else {
    overflow();
  }
  leave();
}

static bool is_touched(uintptr_t at) {
  at = key_of(at);
  enter();
  struct thing *thing = thing_room ? find(at, things, thing_room) : NULL;
  bool is = thing && thing->generation == generation && thing->step == step;
  leave();
  return is;
}

static bool is_among(uintptr_t job, const uintptr_t *jobs, size_t count) {
  for (size_t index = 0; index < count; index++) {
    if (jobs[index] == job) return true;
  }
  return false;
}

void touch_released(uintptr_t at) {
  // The step's own tasks are touched when it begins, and when it begins with them.
  if (!is_touched(at)) {
    if (released_count < MOST_JOBS) released[released_count++] = at; else touch_everything(touch_of_actor);
  }
  touch(touch_of_runtime, at, true);
}

void touch_admitted(uintptr_t job) {
  if (admitted_count < MOST_JOBS) admitted[admitted_count++] = job;
  touch(touch_of_ready, job, true);
}

void touch_resumed(uintptr_t task) {
  if (has_actors && !is_among(task, admitted, admitted_count)) touch(touch_of_actor, TOUCH_ACTORS, true);
}

void touch_actors(void) {
  has_actors = true;
  touch(touch_of_actor, TOUCH_ACTORS, false);
}

void touch_actor(uintptr_t actor) {
  has_actors = true;
  touch(touch_of_actor, actor, true);
  touch(touch_of_actor, TOUCH_ACTORS, false);
}

void touches_end_step(void) {
  for (size_t index = 0; has_actors && index < released_count; index++) {
    if (!is_among(released[index], admitted, admitted_count)) {
      touch(touch_of_actor, TOUCH_ACTORS, true);
      break;
    }
  }
  enter();
  if (is_behind_all) last_behind_all = number = touch_mix(number, sum);
  for (size_t index = 0; index < touched_count; index++) {
    struct thing *thing = find(touched[index], things, thing_room);
    if (thing->generation != generation || thing->step != step) continue;
    uint64_t mark = touch_mix(number, index + 1);
    if (thing->is_written) {
      thing->writer = mark;
      thing->readers = 0;
    } else {
      thing->readers += mark;
    }
  }
  sum += touch_mix(number, 1);
  leave();
}

void touch_forget(uintptr_t at, size_t size) {
  if (!thing_count) return;
  enter();
  uintptr_t end = at + size;
  if (size / 8 > thing_room) {
    for (size_t slot = 0; slot < thing_room; slot++) {
      struct thing *thing = &things[slot];
      if (thing->at >= at && thing->at < end) thing->writer = thing->readers = 0, thing->step = 0;
    }
  } else {
    for (uintptr_t word = key_of(at); word < end; word += 8) {
      if (!(*word_of_line(word) & bit_of_line(word))) {
        word |= 56;
        continue;
      }
      struct thing *thing = find(word, things, thing_room);
      if (thing->generation == generation) thing->writer = thing->readers = 0, thing->step = 0;
    }
  }
  leave();
}

uint64_t touch_state(uintptr_t at) {
  at = key_of(at);
  enter();
  struct thing *thing = thing_room ? find(at, things, thing_room) : NULL;
  uint64_t state =
    thing && thing->generation == generation ? touch_mix(thing->writer, thing->readers) : 0;
  leave();
  return state;
}

uint64_t touches_sum(void) { return sum; }
