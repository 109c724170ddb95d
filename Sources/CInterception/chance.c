#define _GNU_SOURCE
#include "Taken.h"

#ifndef NOTHING_IS_TAKEN

#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Random numbers, which come from the kernel: explored, they are the schedule's, the same in each run of it.

static void draw(uint8_t *bytes, size_t count) {
  bool were_open = points_close();
  while (count > 0) {
    uint64_t number = exploration_answers.chance();
    size_t part = count < sizeof number ? count : sizeof number;
    memcpy(bytes, &number, part);
    bytes += part;
    count -= part;
  }
  points_reopen(were_open);
}

typedef long call_function(long, ...);

/// By this function others ask the kernel for random numbers.
TAKEN long syscall(long number, ...) {
  call_function *original = ORIGINAL("syscall", call_function *);
  long given[6];
  va_list rest;
  va_start(rest, number);
  for (int index = 0; index < 6; index++) given[index] = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_getrandom && IS_EXPLORED && given[1] > 0) {
    draw((uint8_t *)given[0], (size_t)given[1]);
    return given[1];
  }
  return original(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}

typedef void random_function(void *, size_t);

/// The language's library takes a lock of its own for it, which would put in an order all that draw a number.
TAKEN void swift_stdlib_random(void *bytes, size_t count);
TAKEN void swift_stdlib_random(void *bytes, size_t count) {
  if (!IS_EXPLORED) return ORIGINAL("swift_stdlib_random", random_function *)(bytes, count);
  draw((uint8_t *)bytes, count);
}

typedef void uuid_function(uint8_t *);

/// By this one Foundation makes a UUID.
TAKEN void _foundation_uuid_generate_random(uint8_t *bytes);
TAKEN void _foundation_uuid_generate_random(uint8_t *bytes) {
  if (!IS_EXPLORED) return ORIGINAL("_foundation_uuid_generate_random", uuid_function *)(bytes);
  draw(bytes, 16);
  // Version 4, of the usual variant.
  bytes[6] = (bytes[6] & 0x0F) | 0x40;
  bytes[8] = (bytes[8] & 0x3F) | 0x80;
}

#endif
