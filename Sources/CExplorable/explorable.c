#define _GNU_SOURCE
#include "CExplorable.h"
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What the explorable lock and atomics look at before each operation. In C, since Swift has neither a
// global that every module reads without a call nor variables of a thread.

int explorations_under_way = 0;

static _Thread_local void *part = 0;

void explorations_count(int change) {
  __atomic_fetch_add(&explorations_under_way, change, __ATOMIC_SEQ_CST);
}

void *thread_part(void) { return part; }

void thread_set_part(void *new_part) { part = new_part; }

void *copy_of_object(const void *object) {
  size_t size = malloc_usable_size((void *)object);
  void *copy = malloc(size);
  return copy ? memcpy(copy, object, size) : NULL;
}

int thread_number(void) { return gettid(); }

bool thread_exists(int number) { return tgkill(getpid(), number, 0) == 0; }
