#include "CExplorable.h"

#include <stdlib.h>

// Memory that the code under study has given back in the schedule under way.
//
// One thread of an exploration runs at a time, but for one that was called blocked and comes back: who finds another
// here keeps nothing.

#define MOST_KEPT 1024
/// In bytes; what is larger than what is left of it is given back at once.
#define ROOM ((size_t)1 << 24)

static struct {
  uintptr_t at;
  size_t size;
  struct race_access by;
} kept[MOST_KEPT];
static unsigned count;
static size_t bytes;
static volatile char busy;

bool memory_keep(uintptr_t at, size_t size, const struct race_access *by) {
  if (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) return false;
  bool has_room = count < MOST_KEPT && size <= ROOM - bytes;
  if (has_room) {
    kept[count].at = at;
    kept[count].size = size;
    kept[count++].by = *by;
    bytes += size;
  }
  __atomic_clear(&busy, __ATOMIC_RELEASE);
  return has_room;
}

const struct race_access *memory_given_back_by(uintptr_t at) {
  const struct race_access *found = NULL;
  if (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) return NULL;
  for (unsigned index = 0; index < count && !found; index++) {
    if (at - kept[index].at < kept[index].size) found = &kept[index].by;
  }
  __atomic_clear(&busy, __ATOMIC_RELEASE);
  return found;
}

void memory_let_go(void) {
  while (count > 0) free((void *)kept[--count].at);
  bytes = 0;
}
