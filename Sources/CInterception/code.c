#define _GNU_SOURCE
#include "Taken.h"

#ifndef NOTHING_IS_TAKEN

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Whose the code at an address is.
//
// A program's functions are known by its table of symbols, read once from its file. What is no function of
// the program is a library's: the loader knows which.

struct function {
  uintptr_t start;
  uintptr_t end;
  /// Whether it is the exploration's own; of what is no function, whether the compiler keeps there what it found.
  bool is_own;
};

static struct function *functions;
static size_t function_count;
static int functions_are_read;

/// How the mangled names of the exploration's own functions begin.
static const char *const own_names[] = {
  "$s11Exploration", "$s18ExplorationTesting", "$s25ExplorableSynchronization", "$s6Basics"};

/// How the mangled names end of variables in which the compiler keeps types and conformances that it has looked
/// up, by operations on atomics.
static const char *const kept_names[] = {"MD", "Md", "MR", "ML", "Ml", "MI", "MJ", "WL"};

static bool ends_as_kept(const char *name) {
  size_t length = strlen(name);
  if (length < 4 || name[0] != '$' || name[1] != 's') return false;
  for (size_t kind = 0; kind < sizeof kept_names / sizeof *kept_names; kind++) {
    if (strcmp(name + length - 2, kept_names[kind]) == 0) return true;
  }
  return false;
}

static int by_start(const void *one, const void *other) {
  uintptr_t a = ((const struct function *)one)->start, b = ((const struct function *)other)->start;
  return a < b ? -1 : a > b;
}

static int note_base(struct dl_phdr_info *info, size_t size, void *base) {
  (void)size;
  // The first is the program itself.
  *(uintptr_t *)base = info->dlpi_addr;
  return 1;
}

/// What is done with a table of symbols, whose addresses are to be counted from `base`.
typedef void symbols_reader(const ElfW(Sym) *symbols, size_t count, const char *names, uintptr_t base);

/// Reads the table of symbols of a program or library from its file; does nothing where that has none.
static void read_symbols(const char *path, uintptr_t base, symbols_reader *read) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  void *bytes = MAP_FAILED;
  if (file >= 0 && fstat(file, &status) == 0) {
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  }
  if (file >= 0) close(file);
  if (bytes == MAP_FAILED) return;
  const ElfW(Ehdr) *header = bytes;
  if (memcmp(bytes, ELFMAG, SELFMAG) == 0) {
    const ElfW(Shdr) *sections = (const void *)((const char *)bytes + header->e_shoff);
    for (int index = 0; index < header->e_shnum; index++) {
      if (sections[index].sh_type != SHT_SYMTAB) continue;
      const ElfW(Shdr) *names = &sections[sections[index].sh_link];
      read((const void *)((const char *)bytes + sections[index].sh_offset),
        sections[index].sh_size / sizeof(ElfW(Sym)), (const char *)bytes + names->sh_offset, base);
      break;
    }
  }
  munmap(bytes, (size_t)status.st_size);
}

static void collect(const ElfW(Sym) *symbols, size_t count, const char *names, uintptr_t base) {
  functions = malloc(count * sizeof(struct function));
  if (!functions) return;
  for (size_t symbol = 0; symbol < count; symbol++) {
    const char *name = names + symbols[symbol].st_name;
    int type = symbols[symbol].st_info & 0xF;
    if (symbols[symbol].st_size == 0) continue;
    if (type != STT_FUNC && !(type == STT_OBJECT && ends_as_kept(name))) continue;
    struct function *function = &functions[function_count++];
    function->start = base + symbols[symbol].st_value;
    function->end = function->start + symbols[symbol].st_size;
    function->is_own = type == STT_OBJECT;
    for (size_t own = 0; own < sizeof own_names / sizeof *own_names; own++) {
      if (strncmp(name, own_names[own], strlen(own_names[own])) == 0) function->is_own = true;
    }
  }
  qsort(functions, function_count, sizeof(struct function), by_start);
}

static void read_functions(void) {
  uintptr_t base = 0;
  dl_iterate_phdr(note_base, &base);
  read_symbols("/proc/self/exe", base, collect);
}

/// The program's function around the address; null if there is none that is known.
static const struct function *function_at(uintptr_t address) {
  // 0: not read; 1: being read; 2: read. Only threads of the one exploration under way ask, one at a time.
  if (__atomic_load_n(&functions_are_read, __ATOMIC_ACQUIRE) != 2) {
    int expected = 0;
    if (!__atomic_compare_exchange_n(&functions_are_read, &expected, 1, false, __ATOMIC_ACQ_REL,
          __ATOMIC_ACQUIRE)) {
      return NULL;
    }
    read_functions();
    __atomic_store_n(&functions_are_read, 2, __ATOMIC_RELEASE);
  }
  size_t low = 0, high = function_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (functions[middle].start <= address) low = middle + 1; else high = middle;
  }
  if (low == 0 || functions[low - 1].end < address) return NULL;
  return &functions[low - 1];
}

static bool starts(const char *text, const char *beginning) {
  return text && strncmp(text, beginning, strlen(beginning)) == 0;
}

/// Whether the library is the system's or the language's own.
static bool is_of_the_system(const char *path) {
  static const char *const folders[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};
  for (size_t index = 0; index < sizeof folders / sizeof *folders; index++) {
    if (starts(path, folders[index])) return true;
  }
  static const char *_Atomic language;
  if (!language) {
    Dl_info info;
    void *symbol = dlsym(RTLD_DEFAULT, "swift_retain");
    if (!symbol || !dladdr(symbol, &info) || !info.dli_fname) return false;
    language = info.dli_fname;
  }
  const char *slash = strrchr(language, '/');
  return slash && strncmp(path, language, (size_t)(slash - language) + 1) == 0;
}

static bool find_under_study(uintptr_t address) {
  const struct function *function = function_at(address);
  if (function) return !function->is_own;
  Dl_info info;
  if (!dladdr((void *)address, &info) || !info.dli_fname) return true;
  if (!is_of_the_system(info.dli_fname)) return true;
  // The locks of Foundation: what they do is done by the code that calls them. Some jump to the system's
  // function, so that who called them is seen instead.
  return starts(info.dli_sname, "$s10Foundation9NSLocking")
         || starts(info.dli_sname, "$s10Foundation6NSLockC")
         || starts(info.dli_sname, "$s10Foundation15NSRecursiveLockC")
         || starts(info.dli_sname, "$s10Foundation11NSConditionC")
         || starts(info.dli_sname, "$s10Foundation15NSConditionLockC");
}

// What was found is kept by address: the address, then one bit. An address of code has less than 62 bits.
// There are far more slots than addresses, of which a large program has thousands: where many lie beside each other,
// one that finds no room is looked for each time, and the loader takes a tenth of a millisecond to find one.
#define KEPT 65536
static uintptr_t kept_study[KEPT], kept_tries[KEPT], kept_nameless[KEPT], kept_variables[KEPT];
static uintptr_t kept_foundation[KEPT], kept_libraries[KEPT];

/// In one of some slots beside each other.
static bool keep(uintptr_t *kept, uintptr_t address, bool (*find)(uintptr_t)) {
  size_t first = (address * 0x9E3779B97F4A7C15) >> 32, free = first % KEPT;
  for (size_t way = 0; way < 8; way++) {
    size_t slot = (first + way) % KEPT;
    uintptr_t word = __atomic_load_n(&kept[slot], __ATOMIC_RELAXED);
    if (word >> 1 == address) return word & 1;
    if (word == 0) {
      free = slot;
      break;
    }
  }
  bool found = find(address);
  __atomic_store_n(&kept[free], address << 1 | found, __ATOMIC_RELAXED);
  return found;
}

static bool find_nameless(uintptr_t address) {
  Dl_info info;
  if (function_at(address) || !dladdr((void *)address, &info) || !info.dli_fname) return false;
  const char *slash = strrchr(info.dli_fname, '/');
  return !info.dli_sname && starts(slash ? slash + 1 : info.dli_fname, "libFoundation.so");
}

static bool find_foundation(uintptr_t address) {
  Dl_info info;
  if (function_at(address) || !dladdr((void *)address, &info) || !info.dli_fname) return false;
  const char *slash = strrchr(info.dli_fname, '/');
  const char *name = slash ? slash + 1 : info.dli_fname;
  // What Swift calls of Dispatch it calls by way of a library of its own.
  return starts(name, "libFoundation") || starts(name, "libswiftDispatch");
}

bool is_of_foundation(uintptr_t address) { return keep(kept_foundation, address, find_foundation); }

/// Where the language's libraries lie, the one without tasks first; nowhere in a program that has them inside itself.
static struct {
  uintptr_t from, to;
} runtime_parts[2];

static int note_runtime(struct dl_phdr_info *image, size_t size, void *unused) {
  (void)size, (void)unused;
  const char *slash = strrchr(image->dlpi_name, '/');
  const char *name = slash ? slash + 1 : image->dlpi_name;
  int number = starts(name, "libswiftCore.so") ? 0 : starts(name, "libswift_Concurrency.so") ? 1 : -1;
  if (number < 0) return 0;
  uintptr_t from = UINTPTR_MAX, to = 0;
  for (int index = 0; index < image->dlpi_phnum; index++) {
    const ElfW(Phdr) *part = &image->dlpi_phdr[index];
    if (part->p_type != PT_LOAD) continue;
    uintptr_t begin = image->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
    if (begin < from) from = begin;
    if (end > to) to = end;
  }
  runtime_parts[number].from = from;
  runtime_parts[number].to = to;
  return 0;
}

__attribute__((constructor)) static void find_runtime(void) { dl_iterate_phdr(note_runtime, NULL); }

static bool is_of_part(size_t part, uintptr_t address) {
  return address >= runtime_parts[part].from && address < runtime_parts[part].to;
}

bool is_of_runtime(uintptr_t address) { return is_of_part(0, address) || is_of_part(1, address); }

bool is_of_types(uintptr_t address) { return is_of_part(0, address); }

/// The functions by which an `AsyncStream` takes and releases its lock; nowhere where the library's file does not say.
static struct {
  uintptr_t from, to;
} stream_locks[2];

static void note_stream_locks(const ElfW(Sym) *symbols, size_t count, const char *names, uintptr_t base) {
  static const char *const wanted[] = {"_swift_async_stream_lock_lock", "_swift_async_stream_lock_unlock"};
  for (size_t symbol = 0; symbol < count; symbol++) {
    for (size_t index = 0; index < sizeof wanted / sizeof *wanted; index++) {
      if (strcmp(names + symbols[symbol].st_name, wanted[index]) != 0) continue;
      stream_locks[index].from = base + symbols[symbol].st_value;
      stream_locks[index].to = stream_locks[index].from + symbols[symbol].st_size;
    }
  }
}

static bool find_lock_of_library(uintptr_t address) {
  Dl_info info;
  if (function_at(address) || !dladdr((void *)address, &info) || !info.dli_fname) return false;
  const char *slash = strrchr(info.dli_fname, '/');
  const char *name = slash ? slash + 1 : info.dli_fname;
  if (starts(name, "libswiftObservation.so")) return true;
  // What locks there is an `NSLock`, whose functions jump to the system's.
  if (starts(info.dli_sname, "$s10Foundation7NSCacheC")) return true;
  if (starts(info.dli_sname, "$s10Foundation18NotificationCenterC")) return true;
  if (!starts(name, "libswift_Concurrency.so")) return false;
  if (!stream_locks[0].to) read_symbols(info.dli_fname, (uintptr_t)info.dli_fbase, note_stream_locks);
  for (size_t index = 0; index < sizeof stream_locks / sizeof *stream_locks; index++) {
    if (address >= stream_locks[index].from && address < stream_locks[index].to) return true;
  }
  return false;
}

bool is_lock_of_library(uintptr_t address) { return keep(kept_libraries, address, find_lock_of_library); }

bool is_called_by_study(uintptr_t address, const void *frame) {
  if (is_under_study(address)) return true;
  // `lock.withLock` calls a lock by its protocol, and lands in a function of the library that only calls on.
  if (!keep(kept_nameless, address, find_nameless)) return false;
  const uintptr_t *caller = *(const uintptr_t *const *)frame;
  return is_under_study(caller[1]);
}

/// What was asked last, near to each other where the addresses are: at each access of instrumented code it is asked,
/// and in the large table each address has a page of its own.
#define NEAR 1024
static uintptr_t near_study[NEAR];

bool is_under_study(uintptr_t address) {
  uintptr_t *near = &near_study[(address >> 3 ^ address >> 13) % NEAR];
  uintptr_t word = __atomic_load_n(near, __ATOMIC_RELAXED);
  if (word >> 1 == address) return word & 1;
  bool is = keep(kept_study, address, find_under_study);
  __atomic_store_n(near, address << 1 | is, __ATOMIC_RELAXED);
  return is;
}

extern void taken_try_lock_slow(void) __asm__("$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");

/// Whether there is a call of `_tryLockSlow` in the function: else it only takes locks for which it waits.
static bool find_tries(uintptr_t address) {
  const struct function *function = function_at(address);
  if (!function) return true;
  uintptr_t target = (uintptr_t)&taken_try_lock_slow;
#if defined(__x86_64__)
  for (uintptr_t at = function->start; at + 5 <= function->end; at++) {
    int32_t distance;
    if (*(const uint8_t *)at != 0xE8) continue;
    memcpy(&distance, (const void *)(at + 1), sizeof distance);
    if (at + 5 + (intptr_t)distance == target) return true;
  }
  return false;
#elif defined(__aarch64__)
  for (uintptr_t at = function->start; at + 4 <= function->end; at += 4) {
    uint32_t word = *(const uint32_t *)at;
    if (word >> 26 != 0x25) continue;
    int64_t distance = (int64_t)((uint64_t)word << 38) >> 36;
    if (at + (intptr_t)distance == target) return true;
  }
  return false;
#else
  return true;
#endif
}

extern const char __executable_start, _end;

static bool find_kept(uintptr_t address) {
  const struct function *variable = function_at(address);
  return variable && variable->is_own && address < variable->end;
}

bool is_compilers_own(uintptr_t address) {
  if (address < (uintptr_t)&__executable_start || address >= (uintptr_t)&_end) return false;
  return keep(kept_variables, address, find_kept);
}

bool may_try_mutex(uintptr_t address) { return keep(kept_tries, address, find_tries); }

uint32_t own_thread_number(void) {
  static _Thread_local uint32_t number;
  if (number == 0) number = (uint32_t)syscall(SYS_gettid);
  return number;
}

void *taken_original(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) {
    fprintf(stderr, "%s, which an exploration takes over, is in no library of this program\n", name);
    abort();
  }
  return found;
}

__attribute__((constructor)) static void say_that_calls_are_taken(void) {
  static const struct interception this = {
    .has_permit = taken_semaphore_has_permit,
    .is_group_empty = taken_group_is_empty,
    .is_locked = taken_lock_is_locked,
    .is_under_study = is_under_study,
#ifndef MEMORY_AND_THREADS_ARE_NOT_TAKEN
    .prepare_races = taken_prepare_races,
#endif
  };
  interception = &this;
}

#endif
