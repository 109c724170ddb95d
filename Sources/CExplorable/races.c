#define _GNU_SOURCE
#include "CExplorable.h"
#include "pages.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

// One thread of an exploration runs at a time, but for one that was called blocked and comes back: so all is done
// under a lock, which is hardly ever waited for. What is called under it must not be taken over, for that may come
// here: so memory is that of pages.h.

int races_are_looked_for = 0;

static volatile char busy;

static void enter(void) {
  while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) sched_yield();
}

static void leave(void) { __atomic_clear(&busy, __ATOMIC_RELEASE); }

/// Tells what belongs to the schedule under way.
static uint32_t generation = 0;
static bool is_left_out, saw_weak_orders;
static bool has_race, has_doubt;
static struct race found_race, found_doubt;

// MARK: Memory that lasts until the schedule's end

static char *arena;
static size_t arena_used;
#define ARENA ((size_t)1 << 28)

/// Memory of undefined contents; null if there is none left.
static void *take(size_t size) {
  size = (size + 15) & ~(size_t)15;
  if (!arena && !(arena = reserve_pages(ARENA))) return NULL;
  if (arena_used + size > ARENA) {
    is_left_out = true;
    return NULL;
  }
  void *found = arena + arena_used;
  arena_used += size;
  return found;
}

// MARK: Clocks

/// How far each racer had come, as far as is known.
struct clock {
  uint32_t count, room;
  uint32_t *of;
};

static uint32_t time_of(const struct clock *clock, uint32_t racer) {
  return racer < clock->count ? clock->of[racer] : 0;
}

static bool widen(struct clock *clock, uint32_t count) {
  if (count <= clock->count) return true;
  if (count > clock->room) {
    uint32_t room = clock->room ? clock->room : 8;
    while (room < count) room *= 2;
    uint32_t *of = take(room * sizeof *of);
    if (!of) return false;
    if (clock->count) memcpy(of, clock->of, clock->count * sizeof *of);
    clock->of = of;
    clock->room = room;
  }
  memset(clock->of + clock->count, 0, (count - clock->count) * sizeof *clock->of);
  clock->count = count;
  return true;
}

static void join(struct clock *into, const struct clock *from) {
  if (!from->count || !widen(into, from->count)) return;
  for (uint32_t racer = 0; racer < from->count; racer++) {
    if (from->of[racer] > into->of[racer]) into->of[racer] = from->of[racer];
  }
}

static void copy(struct clock *into, const struct clock *from) {
  into->count = 0;
  join(into, from);
}

// MARK: Racers

struct racer {
  struct clock now;
  /// What it would acquire by a fence, and what it would release without one.
  struct clock loaded, fenced;
};

#define MOST_RACERS 4096
static struct racer racers[MOST_RACERS];
static uint32_t racer_count;

static _Thread_local uint32_t own_racer;
static _Thread_local int32_t own_agent;
/// The calling thread's stack, of which others see nothing.
static _Thread_local uintptr_t stack_low, stack_high;

static void find_stack(void) {
  pthread_attr_t attributes;
  void *low;
  size_t size;
  stack_high = 1;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
    stack_low = (uintptr_t)low;
    stack_high = stack_low + size;
  }
  pthread_attr_destroy(&attributes);
}

static struct racer *self(void) {
  uint32_t number = own_racer < MOST_RACERS ? own_racer : 0;
  if (own_racer >= MOST_RACERS) is_left_out = true;
  while (racer_count <= number) racers[racer_count++] = (struct racer){0};
  struct racer *racer = &racers[number];
  if (time_of(&racer->now, number) == 0 && widen(&racer->now, number + 1)) racer->now.of[number] = 1;
  return racer;
}

/// What it does from here on is not ordered by what it has released.
static void tick(struct racer *racer) {
  uint32_t number = (uint32_t)(racer - racers);
  if (number < racer->now.count) racer->now.of[number]++;
}

// MARK: What is known of addresses

/// The last accesses to eight bytes.
#define KEPT_ACCESSES 4
struct access {
  struct race_place place;
  uint32_t time;
  uint16_t racer;
  uint8_t bytes;
  bool is_write, gives_back;
  int32_t agent;
  uint32_t step;
};

/// The schedule's step under way. Its thread has been handed the turn since this was written.
static uint32_t step_under_way;

struct word {
  uintptr_t at;
  uint32_t generation;
  uint8_t count, next;
  struct access accesses[KEPT_ACCESSES];
};

/// What was released at an address.
struct meeting {
  uintptr_t at;
  uint32_t generation;
  bool is_forgotten;
  /// Whoever has taken it and has not been seen to release it, counted from 1; 0 for nobody.
  uint16_t holder;
  struct clock clock;
};

static struct word *words;
static size_t word_room, word_count;
static struct meeting *meetings;
static size_t meeting_room, meeting_count;

static size_t slot_of(uintptr_t at, size_t room) {
  return (size_t)((at >> 3) * 0x9E3779B97F4A7C15ull >> 20) & (room - 1);
}

static struct word *find_word(uintptr_t at, struct word *table, size_t room) {
  size_t slot = slot_of(at, room);
  while (table[slot].generation == generation && table[slot].at != at) slot = (slot + 1) & (room - 1);
  return &table[slot];
}

static struct meeting *find_meeting(uintptr_t at, struct meeting *table, size_t room) {
  size_t slot = slot_of(at, room);
  while (table[slot].generation == generation && table[slot].at != at) slot = (slot + 1) & (room - 1);
  return &table[slot];
}

// Every thread of the program tells what it frees, and most of that nobody explored has touched. So pages of which
// something is noted are marked, some of one mark, and the others are not gone through. The marks are read without the
// lock: who frees memory has seen all that was noted of it, or uses it after it is freed.
#define PAGE ((uintptr_t)4095)
#define MARKS ((size_t)1 << 16)
static uint32_t marks[MARKS];

static uint32_t *mark_of(uintptr_t at) { return &marks[(size_t)((at >> 12) * 0x9E3779B97F4A7C15ull >> 48)]; }

static void mark(uintptr_t at) { __atomic_store_n(mark_of(at), generation, __ATOMIC_RELAXED); }

static bool is_marked(uintptr_t at) {
  return __atomic_load_n(mark_of(at), __ATOMIC_RELAXED) == __atomic_load_n(&generation, __ATOMIC_RELAXED);
}

/// Most of what one schedule may touch: beyond, accesses are not looked at.
#define MOST_WORDS ((size_t)1 << 20)

static bool make_room_for_words(void) {
  if (word_room && word_count * 2 < word_room) return true;
  size_t room = word_room ? word_room * 2 : (size_t)1 << 12;
  struct word *table = room > MOST_WORDS ? NULL : reserve_pages(room * sizeof *table);
  if (!table) {
    is_left_out = true;
    return false;
  }
  for (size_t slot = 0; slot < word_room; slot++) {
    if (words[slot].generation == generation) *find_word(words[slot].at, table, room) = words[slot];
  }
  if (words) give_back_pages(words, word_room * sizeof *words);
  words = table;
  word_room = room;
  return true;
}

static bool make_room_for_meetings(void) {
  if (meeting_room && meeting_count * 2 < meeting_room) return true;
  size_t room = meeting_room ? meeting_room * 2 : (size_t)1 << 10;
  struct meeting *table = room > MOST_WORDS ? NULL : reserve_pages(room * sizeof *table);
  if (!table) {
    is_left_out = true;
    return false;
  }
  for (size_t slot = 0; slot < meeting_room; slot++) {
    if (meetings[slot].generation == generation) {
      *find_meeting(meetings[slot].at, table, room) = meetings[slot];
    }
  }
  if (meetings) give_back_pages(meetings, meeting_room * sizeof *meetings);
  meetings = table;
  meeting_room = room;
  return true;
}

/// What is known of that address; null for nothing. Flags that lie side by side are different ones.
static struct meeting *known(uintptr_t at) {
  if (!meeting_room) return NULL;
  struct meeting *meeting = find_meeting(at, meetings, meeting_room);
  return meeting->generation == generation && !meeting->is_forgotten ? meeting : NULL;
}

static struct clock *released(uintptr_t at) {
  struct meeting *meeting = known(at);
  return meeting ? &meeting->clock : NULL;
}

/// Where to note what is released; null if there is no room.
static struct meeting *meeting_at(uintptr_t at) {
  if (!make_room_for_meetings()) return NULL;
  struct meeting *meeting = find_meeting(at, meetings, meeting_room);
  if (meeting->generation != generation) {
    *meeting = (struct meeting){.at = at, .generation = generation};
    meeting_count++;
    mark(at);
  } else if (meeting->is_forgotten) {
    meeting->is_forgotten = false;
    meeting->holder = 0;
    meeting->clock.count = 0;
  }
  return meeting;
}

/// Forgets what was released at any of the eight bytes: all that begins in them is looked for from the same slot on.
static void forget_meetings(uintptr_t word) {
  size_t slot = slot_of(word, meeting_room);
  for (; meetings[slot].generation == generation; slot = (slot + 1) & (meeting_room - 1)) {
    if ((meetings[slot].at & ~(uintptr_t)7) == word) meetings[slot].is_forgotten = true;
  }
}

static struct clock *release_at(uintptr_t at) {
  struct meeting *meeting = meeting_at(at);
  if (meeting) meeting->holder = 0;
  return meeting ? &meeting->clock : NULL;
}

// MARK: A schedule

void races_begin(void) {
  if (interception && interception->prepare_races) interception->prepare_races();
  enter();
  uint32_t next = generation + 1;
  if (next == 0) {
    // Once in four thousand million schedules: what was noted under the same numbers goes.
    if (words) memset(words, 0, word_room * sizeof *words);
    if (meetings) memset(meetings, 0, meeting_room * sizeof *meetings);
    memset(marks, 0, sizeof marks);
    next = 1;
  }
  __atomic_store_n(&generation, next, __ATOMIC_RELAXED);
  arena_used = 0;
  racer_count = 0;
  word_count = 0;
  meeting_count = 0;
  has_race = false;
  leave();
  __atomic_store_n(&races_are_looked_for, 1, __ATOMIC_RELEASE);
}

void races_end(void) { __atomic_store_n(&races_are_looked_for, 0, __ATOMIC_RELEASE); }

void races_act_as(uint32_t racer) { own_racer = racer; }

void races_name(int32_t agent) { own_agent = agent; }

void races_step(uint32_t number) { __atomic_store_n(&step_under_way, number, __ATOMIC_RELAXED); }

bool race_found(struct race *race) {
  enter();
  bool found = has_race;
  if (found) *race = found_race;
  leave();
  return found;
}

bool race_in_doubt(struct race *race) {
  enter();
  bool found = has_doubt;
  if (found) *race = found_doubt;
  has_doubt = false;
  leave();
  return found;
}

bool races_were_left_out(void) { return __atomic_exchange_n(&is_left_out, false, __ATOMIC_RELAXED); }

bool races_saw_weak_orders(void) { return __atomic_exchange_n(&saw_weak_orders, false, __ATOMIC_RELAXED); }

// MARK: Accesses

static struct race_access told(const struct access *access) {
  return (struct race_access){
    .place = access->place,
    .agent = access->agent,
    .step = access->step,
    .is_write = access->is_write,
    .gives_back = access->gives_back};
}

static void note_race(const struct access *before, const struct access *now) {
  if (has_race) return;
  has_race = true;
  found_race = (struct race){.first = told(before), .second = told(now)};
}

/// Whether the access is to memory that was given back.
static bool note_use_of_kept(uintptr_t at, const struct access *now) {
  const struct race_access *before = memory_given_back_by(at);
  if (before && !has_race) {
    has_race = true;
    found_race = (struct race){.first = *before, .second = told(now)};
  }
  return before;
}

static void note_doubt(const struct access *before, const struct access *now) {
  if (has_doubt) return;
  has_doubt = true;
  found_doubt = (struct race){.first = told(before), .second = told(now)};
}

/// Judges an access to eight bytes by those before, if it is to be, and keeps it.
static void look_at_word(struct racer *racer, uintptr_t at, bool is_judged, struct access now) {
  uint16_t number = (uint16_t)(racer - racers);
  now.time = time_of(&racer->now, number);
  now.racer = number;
  now.agent = own_agent;
  now.step = __atomic_load_n(&step_under_way, __ATOMIC_RELAXED);
  struct word *word = word_room ? find_word(at, words, word_room) : NULL;
  if (!word || word->generation != generation) {
    if (!make_room_for_words()) return;
    word = find_word(at, words, word_room);
    word->at = at;
    word->generation = generation;
    word->count = word->next = 0;
    word_count++;
    mark(at);
    note_use_of_kept(at, &now);
  }
  int same = -1;
  for (int index = 0; index < word->count; index++) {
    struct access *before = &word->accesses[index];
    // What was given back nobody may use, whatever the order.
    if (before->gives_back) note_race(before, &now);
    if (before->racer == number) {
      if (before->bytes == now.bytes && before->is_write == now.is_write) same = index;
      continue;
    }
    if (!(before->bytes & now.bytes) || !(before->is_write || now.is_write)) continue;
    if (before->time <= time_of(&racer->now, before->racer)) continue;
    if (is_judged) note_race(before, &now); else note_doubt(before, &now);
  }
  if (same < 0 && word->count < KEPT_ACCESSES) same = word->count++;
  if (same < 0) {
    // Who is ordered before this one needs no place any more; else one after the other loses it.
    for (int index = 0; index < KEPT_ACCESSES && same < 0; index++) {
      struct access *before = &word->accesses[index];
      if (before->time <= time_of(&racer->now, before->racer) && (now.is_write || !before->is_write)) same = index;
    }
    if (same < 0) same = word->next++ % KEPT_ACCESSES;
  }
  word->accesses[same] = now;
}

/// From where on others use the calling thread's stack, too; 0 where nobody does.
static _Thread_local uintptr_t shared_from;

bool race_is_on_stack(uintptr_t at) {
  if (!stack_high) find_stack();
  return at >= stack_low && at < stack_high && !(shared_from && at >= shared_from);
}

uintptr_t race_share_stack(uintptr_t from) {
  uintptr_t before = shared_from;
  shared_from = from;
  return before;
}

void race_access(uintptr_t at, size_t size, bool is_write, bool is_judged, const struct race_place *place) {
  if (race_is_on_stack(at)) return;
  enter();
  struct racer *racer = self();
  uintptr_t end = at + size;
  while (at < end) {
    uintptr_t word = at & ~(uintptr_t)7;
    uintptr_t last = end < word + 8 ? end : word + 8;
    uint8_t bytes = (uint8_t)((0xFFu >> (8 - (last - word))) & (0xFFu << (at - word)));
    look_at_word(racer, word, is_judged, (struct access){.place = *place, .bytes = bytes, .is_write = is_write});
    at = last;
  }
  leave();
}

/// The beginning of the next page, or the end of the bytes if that comes first.
static uintptr_t end_of_page(uintptr_t at, uintptr_t end) {
  uintptr_t next = (at | PAGE) + 1;
  return next < end ? next : end;
}

bool race_end(uintptr_t at, size_t size, const struct race_place *place, bool is_judged) {
  struct access end_of_use = {
    .place = *place, .bytes = 0xFF, .is_write = true, .gives_back = true, .agent = own_agent,
    .step = __atomic_load_n(&step_under_way, __ATOMIC_RELAXED)};
  struct race_access by = told(&end_of_use);
  enter();
  bool was_given_back = note_use_of_kept(at, &end_of_use);
  leave();
  if (was_given_back) return true;
  uintptr_t end = at + size;
  for (uintptr_t next, from = at; from < end; from = next) {
    next = end_of_page(from, end);
    if (!is_marked(from)) continue;
    enter();
    for (uintptr_t word = from & ~(uintptr_t)7; word_count && word < next; word += 8) {
      struct word *found = find_word(word, words, word_room);
      bool is_used = found->generation == generation && found->count;
      if (!is_used) continue;
      if (is_judged) look_at_word(self(), word, true, end_of_use);
      found->count = found->next = 1;
      found->accesses[0] = end_of_use;
    }
    leave();
  }
  return memory_keep(at, size, &by);
}

void race_forget(uintptr_t at, size_t size) {
  uintptr_t end = at + size;
  for (uintptr_t next; at < end; at = next) {
    next = end_of_page(at, end);
    if (!is_marked(at)) continue;
    enter();
    for (uintptr_t word = at & ~(uintptr_t)7; word < next; word += 8) {
      if (word_count) {
        struct word *found = find_word(word, words, word_room);
        if (found->generation == generation) found->count = found->next = 0;
      }
      if (meeting_count) forget_meetings(word);
    }
    leave();
  }
}

/// How far down a job's calls reach, as a rule.
#define NEAR_STACK ((uintptr_t)1 << 18)

void race_forget_stack(void) {
  if (!stack_high) find_stack();
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (here < stack_low || here >= stack_high) return;
  uintptr_t from = here - stack_low > NEAR_STACK ? here - NEAR_STACK : stack_low;
  race_forget(from, here - from);
}

// MARK: What orders accesses

void race_acquire(uintptr_t at) {
  enter();
  struct clock *clock = released(at);
  if (clock) join(&self()->now, clock);
  leave();
}

void race_take(uintptr_t at) {
  enter();
  struct racer *racer = self();
  struct meeting *meeting = meeting_at(at);
  if (meeting) {
    struct racer *holder = meeting->holder ? &racers[meeting->holder - 1] : racer;
    if (holder != racer) {
      join(&racer->now, &holder->now);
      tick(holder);
    }
    join(&racer->now, &meeting->clock);
    meeting->holder = (uint16_t)(racer - racers) + 1;
  }
  leave();
}

void race_release(uintptr_t at) {
  enter();
  struct racer *racer = self();
  struct clock *clock = release_at(at);
  if (clock) join(clock, &racer->now);
  tick(racer);
  leave();
}

bool race_is_order(uintptr_t at) {
  enter();
  // Where a lock has readers, they release at its second half.
  bool is_order = known(at) || known(at + 4);
  leave();
  return is_order;
}

static bool acquires(int order) { return order == 1 || order == 2 || order >= 4; }
static bool releases(int order) { return order >= 3; }

void race_atomic(uintptr_t at, bool reads, bool writes, int order) {
  if (order < 5) __atomic_store_n(&saw_weak_orders, true, __ATOMIC_RELAXED);
  enter();
  struct racer *racer = self();
  if (reads) {
    struct clock *clock = released(at);
    if (clock) join(acquires(order) ? &racer->now : &racer->loaded, clock);
  }
  if (writes) {
    const struct clock *mine = releases(order) ? &racer->now : &racer->fenced;
    struct clock *clock = release_at(at);
    // Who only writes over it ends what was released there before; who changes it goes on with that.
    if (clock && !reads) clock->count = 0;
    if (clock) join(clock, mine);
    if (releases(order)) tick(racer);
  }
  leave();
}

void race_fence(int order) {
  if (order < 5) __atomic_store_n(&saw_weak_orders, true, __ATOMIC_RELAXED);
  enter();
  struct racer *racer = self();
  if (acquires(order)) join(&racer->now, &racer->loaded);
  if (releases(order)) {
    copy(&racer->fenced, &racer->now);
    tick(racer);
  }
  leave();
}
