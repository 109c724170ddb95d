#ifndef CEXPLORABLE_PAGES_H
#define CEXPLORABLE_PAGES_H

#include <stddef.h>
#include <sys/mman.h>

// Memory for tables, directly from the system: the allocator's functions may be taken over, and come to who has the
// tables.

/// Memory of zeros; null if there is none left.
static inline void *reserve_pages(size_t size) {
  void *found = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return found == MAP_FAILED ? NULL : found;
}

/// Gives the memory back, and keeps its addresses, which cost nothing: `munmap` is taken over too, and would ask for the
/// lock that the caller has.
static inline void give_back_pages(void *pages, size_t size) { madvise(pages, size, MADV_DONTNEED); }

#endif
