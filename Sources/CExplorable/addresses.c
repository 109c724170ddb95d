#include "CExplorable.h"

// What is known by its address, a lock or an atomic, is somebody else once its memory was freed and used again.
// Whether memory is used again is the allocator's affair, and not the same in each run of a schedule: so it is noted
// what was freed.
//
// Addresses are noted by the thread that has the baton; any thread frees.

#define ROOM 8192
#define SLOTS 16384

/// The memory that an allocator hands out begins at multiples of this.
#define GRANULE 16

/// The granules in which something is known, the lowest bit set once they were freed.
static uintptr_t known[ROOM];
static uint16_t slots[SLOTS];
static uint16_t slot_of[ROOM];
unsigned addresses_known = 0;

static size_t first_slot(uintptr_t granule) { return granule / GRANULE * 0x9E3779B97F4A7C15u >> 50; }

/// The index of the granule; -1 if nothing is known there. `slot` becomes its own, or that for it.
static long find(uintptr_t granule, size_t *slot) {
  for (*slot = first_slot(granule);; *slot = (*slot + 1) % SLOTS) {
    uint16_t index = __atomic_load_n(&slots[*slot], __ATOMIC_RELAXED);
    if (index == 0) return -1;
    if ((__atomic_load_n(&known[index - 1], __ATOMIC_RELAXED) & ~(uintptr_t)1) == granule) return index - 1;
  }
}

bool address_note(uintptr_t address) {
  uintptr_t granule = address & ~(uintptr_t)(GRANULE - 1);
  size_t slot;
  long index = find(granule, &slot);
  if (index >= 0) return __atomic_fetch_and(&known[index], ~(uintptr_t)1, __ATOMIC_RELAXED) & 1;
  if (addresses_known == ROOM) return false;
  __atomic_store_n(&known[addresses_known], granule, __ATOMIC_RELAXED);
  slot_of[addresses_known] = (uint16_t)slot;
  __atomic_store_n(&slots[slot], (uint16_t)(addresses_known + 1), __ATOMIC_RELAXED);
  __atomic_store_n(&addresses_known, addresses_known + 1, __ATOMIC_RELEASE);
  return false;
}

void addresses_forget(void) {
  for (unsigned index = 0; index < addresses_known; index++) {
    __atomic_store_n(&slots[slot_of[index]], 0, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&addresses_known, 0, __ATOMIC_RELEASE);
}

static void mark(long index, uintptr_t granule) {
  // Another schedule may have begun meanwhile, and something else be known by that index.
  __atomic_compare_exchange_n(
    &known[index], &granule, granule | 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void memory_freed(uintptr_t start, size_t size) {
  uintptr_t end = start + size;
  start &= ~(uintptr_t)(GRANULE - 1);
  unsigned count = __atomic_load_n(&addresses_known, __ATOMIC_ACQUIRE);
  if (size / GRANULE > count) {
    for (unsigned index = 0; index < count; index++) {
      uintptr_t granule = __atomic_load_n(&known[index], __ATOMIC_RELAXED);
      if (granule >= start && granule < end) mark(index, granule);
    }
    return;
  }
  for (uintptr_t granule = start; granule < end; granule += GRANULE) {
    size_t slot;
    long index = find(granule, &slot);
    if (index >= 0) mark(index, granule);
  }
}

#define KEPT_SIGNALS 64

static uintptr_t signalled[KEPT_SIGNALS];
static unsigned signal_count;

unsigned signals_from_outside(void) { return __atomic_load_n(&signal_count, __ATOMIC_ACQUIRE); }

void signal_from_outside(uintptr_t condition) {
  // Of others there may be many.
  size_t slot;
  if (find(condition & ~(uintptr_t)(GRANULE - 1), &slot) < 0) return;
  unsigned number = __atomic_fetch_add(&signal_count, 1, __ATOMIC_ACQ_REL);
  __atomic_store_n(&signalled[number % KEPT_SIGNALS], condition, __ATOMIC_RELEASE);
}

bool was_signalled_from_outside(uintptr_t condition, unsigned since) {
  unsigned count = signals_from_outside();
  if (count - since > KEPT_SIGNALS) since = count - KEPT_SIGNALS;
  for (unsigned number = since; number != count; number++) {
    if (__atomic_load_n(&signalled[number % KEPT_SIGNALS], __ATOMIC_ACQUIRE) == condition) return true;
  }
  return false;
}
