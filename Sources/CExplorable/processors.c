#define _GNU_SOURCE
#include "CExplorable.h"
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// On which processors threads run. What is called a process there may be a thread, by the kernel's number.

static struct processors processors_of(int thread) {
  struct processors found;
  memset(&found, 0, sizeof found);
  sched_getaffinity(thread, sizeof found, (cpu_set_t *)&found);
  return found;
}

struct processors processors_of_thread(void) { return processors_of(0); }

bool processors_allow(int thread, const struct processors *processors) {
  return sched_setaffinity(thread, sizeof *processors, (const cpu_set_t *)processors) == 0;
}

void processors_allow_from(const struct processors *from, const struct processors *processors) {
  // A thread that ends meanwhile can hide another in the list.
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    DIR *threads = opendir("/proc/self/task");
    if (!threads) return;
    for (struct dirent *entry; (entry = readdir(threads));) {
      int thread = atoi(entry->d_name);
      if (thread <= 0) continue;
      struct processors allowed = processors_of(thread);
      if (memcmp(&allowed, from, sizeof allowed) == 0 && processors_allow(thread, processors)) has_changed = true;
    }
    closedir(threads);
  }
}

int processor_of_thread(void) { return sched_getcpu(); }

int64_t time_of_thread(int thread) {
  // As the kernel makes the number of a thread's clock of its own.
  struct timespec time;
  clockid_t clock = (clockid_t)((~(unsigned)thread << 3) | 6);
  if (clock_gettime(clock, &time) != 0) return 0;
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}
