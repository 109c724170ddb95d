#define KIND_TOUCHED touch_of_queue
#include "Taken.h"

#ifndef NOTHING_IS_TAKEN

// Any block: who lets go of it last, and gives its memory back.

typedef void release_block_function(const void *block);

/// Who lets go of a block last comes behind all that had it, as its count of owners sees to.
TAKEN void _Block_release(const void *block) {
  if (block) {
    RELEASE(DISPATCH_ORDER(block));
    ACQUIRE(DISPATCH_ORDER(block));
  }
  ORIGINAL("_Block_release", release_block_function *)(block);
}

// Blocks that Dispatch made, of a `DispatchWorkItem`: whether one is a barrier, and who waits for its end.
//
// Dispatch keeps both inside the block. What the schedule needs of it is kept here too, for as long as no other block
// is made at its address. Only threads that are explored touch it, one at a time.

#define BARRIER 1
#define KEPT_BLOCKS 1024

struct made_block {
  uintptr_t block;
  /// The function that it calls. A block of the program's own that is made at the same address later calls another.
  void (*invoke)(void *);
  /// Who waits for its end waits for this group's; null while nobody does.
  void *group;
  /// In which schedule it was made: in a later one it may be gone.
  uint64_t schedule;
  bool is_alone;
  /// Whether it was given to a queue, by which its end is seen.
  bool is_given;
  bool has_run;
};

static struct made_block made[KEPT_BLOCKS];

/// How many that were made in that schedule have a group and have not run.
static int awaited;
static uint64_t schedule_of_awaited;

/// The number of the schedule under way; in a new one nobody is awaited yet.
static uint64_t schedule_under_way(void) {
  uint64_t schedule = taken_schedule();
  if (schedule != schedule_of_awaited) awaited = 0;
  return schedule_of_awaited = schedule;
}

typedef void *make_group_function(void);
typedef void group_function(void *group);
typedef void *make_block_function(unsigned long flags, void *block);
typedef void *make_block_of_class_function(unsigned long flags, unsigned quality, int priority, void *block);
typedef intptr_t wait_block_function(void *block, uint64_t time);
typedef void notify_block_function(void *block, void *queue, void *work);

/// In how many places a block may be kept, one behind the other.
#define NEAR_PLACES 16

/// The nth place in which the block may be kept.
static struct made_block *place_of(const void *block, size_t n) {
  size_t first = ((uintptr_t)block >> 4) * 0x9E3779B97F4A7C15ull >> 54;
  return &made[(first + n) % KEPT_BLOCKS];
}

static struct made_block *find(const void *block) {
  for (size_t n = 0; n < NEAR_PLACES; n++) {
    struct made_block *place = place_of(block, n);
    if (place->block != (uintptr_t)block) continue;
    return place->invoke == ((const struct block *)block)->invoke ? place : NULL;
  }
  return NULL;
}

/// Where to keep a block that is made: where one was at the same address, or one of a schedule before.
static struct made_block *place_for(const void *block, uint64_t schedule) {
  struct made_block *free = NULL;
  for (size_t n = 0; n < NEAR_PLACES; n++) {
    struct made_block *place = place_of(block, n);
    if (place->block == (uintptr_t)block) return place;
    if (!free && (!place->block || place->schedule != schedule)) free = place;
  }
  return free ? free : place_of(block, 0);
}

static void *keep(void *block, unsigned long flags) {
  if (!block || !IS_EXPLORED) return block;
  uint64_t schedule = schedule_under_way();
  struct made_block *place = place_for(block, schedule);
  if (place->group) ORIGINAL("dispatch_release", group_function *)(place->group);
  if (place->group && !place->has_run && place->schedule == schedule) awaited--;
  *place = (struct made_block){.block = (uintptr_t)block, .invoke = ((struct block *)block)->invoke,
    .schedule = schedule, .is_alone = flags & BARRIER};
  return block;
}

bool taken_note_given(const void *block) {
  struct made_block *found = find(block);
  if (found) found->is_given = true;
  return found && found->is_alone;
}

static void end(struct made_block *block) {
  block->has_run = true;
  RELEASE(&block->has_run);
  if (!block->group) return;
  if (block->schedule == schedule_under_way()) awaited--;
  taken_leave_group(block->group);
}

void taken_end_block(const void *block) {
  struct made_block *found = find(block);
  if (found && !found->has_run) end(found);
}

/// Whether Dispatch says that the block has run: not asked again when it has, for it answers that once.
///
/// Where points are open, the look is one, and who looks is behind the end.
static bool has_ended(const struct made_block *block) {
  return ORIGINAL("dispatch_block_wait", wait_block_function *)((void *)block->block, no_time) == 0;
}

void taken_end_performed_blocks(void) {
  if (awaited == 0) return;
  uint64_t schedule = schedule_under_way();
  for (size_t place = 0; awaited > 0 && place < KEPT_BLOCKS; place++) {
    struct made_block *block = &made[place];
    if (!block->group || block->has_run || block->is_given || block->schedule != schedule) continue;
    bool were_open = points_close();
    bool has_run = has_ended(block);
    points_reopen(were_open);
    if (has_run) end(block);
  }
}

TAKEN void *dispatch_block_create(unsigned long flags, void *block) {
  return keep(ORIGINAL("dispatch_block_create", make_block_function *)(flags, block), flags);
}

TAKEN void *dispatch_block_create_with_qos_class(
  unsigned long flags, unsigned quality, int priority, void *block) {
  return keep(ORIGINAL("dispatch_block_create_with_qos_class", make_block_of_class_function *)(
    flags, quality, priority, block), flags);
}

/// The group for whose end waits who waits for the block's.
static void *group_of(struct made_block *block) {
  // It may have been performed, of which nothing is seen while nobody waits.
  if (!block->group && !block->has_run && !block->is_given && has_ended(block)) end(block);
  if (!block->group) {
    bool were_open = points_close();
    block->group = ORIGINAL("dispatch_group_create", make_group_function *)();
    if (!block->has_run) {
      if (block->schedule == schedule_under_way()) awaited++;
      ORIGINAL("dispatch_group_enter", group_function *)(block->group);
    }
    points_reopen(were_open);
  }
  if (block->has_run) ACQUIRE(&block->has_run);
  return block->group;
}

TAKEN intptr_t dispatch_block_wait(void *block, uint64_t time) {
  struct made_block *found = IS_EXPLORED ? find(block) : NULL;
  if (!found) return ORIGINAL("dispatch_block_wait", wait_block_function *)(block, time);
  return dispatch_group_wait(group_of(found), time);
}

TAKEN void dispatch_block_notify(void *block, void *queue, void *work) {
  struct made_block *found = IS_EXPLORED ? find(block) : NULL;
  if (!found) return ORIGINAL("dispatch_block_notify", notify_block_function *)(block, queue, work);
  dispatch_group_notify(group_of(found), queue, work);
}

#endif
