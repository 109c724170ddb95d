#define KIND_TOUCHED touch_of_queue
#include "Taken.h"

#ifndef NOTHING_IS_TAKEN

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
  bool is_alone;
  bool has_run;
};

static struct made_block made[KEPT_BLOCKS];

typedef void *make_group_function(void);
typedef void group_function(void *group);
typedef void *make_block_function(unsigned long flags, void *block);
typedef void *make_block_of_class_function(unsigned long flags, unsigned quality, int priority, void *block);
typedef intptr_t wait_block_function(void *block, uint64_t time);
typedef void notify_block_function(void *block, void *queue, void *work);

/// Where the block is kept, or may be.
static struct made_block *place_of(const void *block) {
  uintptr_t address = (uintptr_t)block;
  return &made[(address >> 4) * 0x9E3779B97F4A7C15ull >> 54];
}

static struct made_block *find(const void *block) {
  struct made_block *found = place_of(block);
  return found->block == (uintptr_t)block && found->invoke == ((const struct block *)block)->invoke ? found : NULL;
}

static void *keep(void *block, unsigned long flags) {
  if (!block || !IS_EXPLORED) return block;
  struct made_block *place = place_of(block);
  if (place->group) ORIGINAL("dispatch_release", group_function *)(place->group);
  *place = (struct made_block){.block = (uintptr_t)block, .invoke = ((struct block *)block)->invoke,
    .is_alone = flags & BARRIER};
  return block;
}

bool taken_block_is_alone(const void *block) {
  struct made_block *found = find(block);
  return found && found->is_alone;
}

void taken_end_block(const void *block) {
  struct made_block *found = find(block);
  if (!found || found->has_run) return;
  found->has_run = true;
  RELEASE(&found->has_run);
  if (found->group) taken_leave_group(found->group);
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
  if (!block->group) {
    bool were_open = points_close();
    block->group = ORIGINAL("dispatch_group_create", make_group_function *)();
    if (!block->has_run) ORIGINAL("dispatch_group_enter", group_function *)(block->group);
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
