#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

/// Whether this build can count allocations: glibc, and no sanitizer that brings its own allocator.
bool allocations_can_be_counted(void);

/// Starts or stops counting the allocations of all threads. Stopped, the cost is one branch.
void allocations_count(bool on);

/// Blocks allocated, over all threads, while counting was on.
uint64_t allocations_counted(void);

/// The bytes that were asked for in these blocks. What is freed again counts too.
uint64_t allocations_counted_bytes(void);

/// Bytes of heap in use, over all arenas, or -1 where the allocator does not say.
int64_t heap_bytes_in_use(void);

#endif
