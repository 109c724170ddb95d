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

static _Thread_local void *explorer = 0;

void *thread_explorer(void) { return explorer; }

void thread_set_explorer(void *new_explorer) { explorer = new_explorer; }

size_t size_of_object(const void *object) { return malloc_usable_size((void *)object); }

void *copy_of_object(const void *object) {
  size_t size = size_of_object(object);
  void *copy = malloc(size);
  return copy ? memcpy(copy, object, size) : NULL;
}

extern void *swift_task_getCurrent(void) __attribute__((swiftcall));

uintptr_t current_task(void) { return (uintptr_t)swift_task_getCurrent(); }

int thread_number(void) { return gettid(); }

bool thread_exists(int number) { return tgkill(getpid(), number, 0) == 0; }
