// Preloaded, makes a program believe that the machine has as many processors as the program may use.
//
// libdispatch makes the cooperative pool as wide as the machine has processors; what taskset allows
// changes nothing about it. With this library a run under taskset has the pool of a smaller machine.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

long sysconf(int name) {
  if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  }
  long (*of_the_system)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
  return of_the_system(name);
}
