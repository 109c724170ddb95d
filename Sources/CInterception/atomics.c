#define KIND_TOUCHED touch_of_lock
#include "Taken.h"

#ifndef NOTHING_IS_TAKEN

// What instrumented code calls at each operation on an atomic, after `sanitizer/tsan_interface_atomic.h` of LLVM.
//
// Each is done as strongly ordered as any can be: one thread of an exploration runs at a time.

#define IN_ORDER __ATOMIC_SEQ_CST

/// Whether an operation on the atomic at the address, by the code at `here`, is a point.
///
/// Where a whole package is instrumented, so is the exploration's own code; some of it runs in the middle of code
/// under study.
#define IS_POINT_FROM(at, here) (IS_EXPLORED && is_under_study(here) && !is_compilers_own((uintptr_t)(at)))
#define IS_POINT(at) IS_POINT_FROM(at, HERE)

static void note_values(uint64_t found, uint64_t left, uint8_t bytes, bool has_left, bool has_written) {
  bool were_open = points_close();
  if (exploration_answers.wants_values()) {
    struct exploration_values values = {found, left, bytes, has_left, has_written};
    exploration_answers.note_values(&values);
  }
  points_reopen(were_open);
}

static void note_outcome(bool has_written) {
  bool were_open = points_close();
  exploration_answers.note_outcome(has_written);
  points_reopen(were_open);
}

/// Notes what orders an operation on an atomic, which has been done.
static void note_order(const volatile void *at, bool reads, bool writes, int order) {
  if (ARE_RACES_LOOKED_FOR) race_atomic((uintptr_t)at, reads, writes, order);
}

#define CHANGING(bits, name, change)                                                                        \
  TAKEN uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t value,      \
    int order) {                                                                                            \
    if (!IS_POINT(at)) return change;                                                                        \
    exploration_pause(point_update, (uintptr_t)at);                                                         \
    uint##bits##_t found = change;                                                                          \
    note_order(at, true, true, order);                                                                      \
    note_values(found, *at, bits / 8, true, true);                                                          \
    return found;                                                                                           \
  }

#define COMPARING(bits)                                                                                     \
  static uint##bits##_t compare##bits(volatile uint##bits##_t *at, uint##bits##_t expected,                 \
    uint##bits##_t desired, uintptr_t here, int order, int failure_order) {                                 \
    uint##bits##_t found = expected;                                                                        \
    bool is_equal = __atomic_compare_exchange_n(at, &found, desired, false, IN_ORDER, IN_ORDER);            \
    if (!IS_POINT_FROM(at, here)) return found;                                                             \
    note_order(at, true, is_equal, is_equal ? order : failure_order);                                       \
    note_values(found, desired, bits / 8, is_equal, is_equal);                                              \
    note_outcome(is_equal && found != desired);                                                             \
    return found;                                                                                           \
  }

#define OPERATIONS(bits)                                                                                    \
  TAKEN uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order) {           \
    if (!IS_POINT(at)) return __atomic_load_n(at, IN_ORDER);                                                 \
    exploration_pause(point_load, (uintptr_t)at);                                                           \
    uint##bits##_t found = __atomic_load_n(at, IN_ORDER);                                                   \
    note_order(at, true, false, order);                                                                     \
    note_values(found, 0, bits / 8, false, false);                                                          \
    return found;                                                                                           \
  }                                                                                                         \
  TAKEN void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value, int order) {    \
    if (!IS_POINT(at)) return __atomic_store_n(at, value, IN_ORDER);                                         \
    exploration_pause(point_store, (uintptr_t)at);                                                          \
    note_values(*at, value, bits / 8, true, true);                                                          \
    note_order(at, false, true, order);                                                                     \
    __atomic_store_n(at, value, IN_ORDER);                                                                  \
  }                                                                                                         \
  TAKEN uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t *at, uint##bits##_t value,    \
    int order) {                                                                                            \
    if (!IS_POINT(at)) return __atomic_exchange_n(at, value, IN_ORDER);                                      \
    exploration_pause(point_exchange, (uintptr_t)at);                                                       \
    uint##bits##_t found = __atomic_exchange_n(at, value, IN_ORDER);                                        \
    note_order(at, true, true, order);                                                                      \
    note_values(found, value, bits / 8, true, found != value);                                              \
    note_outcome(found != value);                                                                           \
    return found;                                                                                           \
  }                                                                                                         \
  CHANGING(bits, fetch_add, __atomic_fetch_add(at, value, IN_ORDER))                                        \
  CHANGING(bits, fetch_sub, __atomic_fetch_sub(at, value, IN_ORDER))                                        \
  CHANGING(bits, fetch_and, __atomic_fetch_and(at, value, IN_ORDER))                                        \
  CHANGING(bits, fetch_or, __atomic_fetch_or(at, value, IN_ORDER))                                          \
  CHANGING(bits, fetch_xor, __atomic_fetch_xor(at, value, IN_ORDER))                                        \
  CHANGING(bits, fetch_nand, __atomic_fetch_nand(at, value, IN_ORDER))                                      \
  COMPARING(bits)

OPERATIONS(8)
OPERATIONS(16)
OPERATIONS(32)
OPERATIONS(64)

#define ORDINARY_COMPARING(bits)                                                                            \
  static uint##bits##_t explored_compare##bits(volatile uint##bits##_t *at, uint##bits##_t expected,        \
    uint##bits##_t desired, uintptr_t here, int order, int failure_order) {                                 \
    if (IS_POINT_FROM(at, here)) exploration_pause(point_compare, (uintptr_t)at);                           \
    return compare##bits(at, expected, desired, here, order, failure_order);                                                      \
  }

ORDINARY_COMPARING(8)
ORDINARY_COMPARING(16)
ORDINARY_COMPARING(64)

/// A `Mutex` is a word of 32 bits: 0, or the number of the thread that holds it.
///
/// It is taken and released by a comparison with the calling thread's number, which nothing else does. Who finds
/// it taken calls a function of the library, which is taken over too.
static uint32_t explored_compare32(volatile uint32_t *at, uint32_t expected, uint32_t desired, uintptr_t here,
  int order, int failure_order) {
  if (!IS_POINT_FROM(at, here)) return compare32(at, expected, desired, here, order, failure_order);
  uint32_t own = own_thread_number();
  if (expected == 0 && desired == own) {
    if (!exploration_pause(may_try_mutex(here) ? point_try_lock : point_lock, (uintptr_t)at)) {
      return __atomic_load_n(at, IN_ORDER);
    }
    uint32_t found = 0;
    if (__atomic_compare_exchange_n(at, &found, desired, false, IN_ORDER, IN_ORDER)) TAKE(at);
    return found;
  }
  if (expected == own && desired == 0) {
    uint32_t found = expected;
    taken_stand_before_release((uintptr_t)at);
    RELEASE(at);
    if (__atomic_compare_exchange_n(at, &found, desired, false, IN_ORDER, IN_ORDER)) {
      bool were_open = points_close();
      exploration_answers.note_release((uintptr_t)at);
      points_reopen(were_open);
    }
    return found;
  }
  exploration_pause(point_compare, (uintptr_t)at);
  return compare32(at, expected, desired, here, order, failure_order);
}

#define COMPARISONS(bits)                                                                                   \
  TAKEN uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(volatile uint##bits##_t *at,              \
    uint##bits##_t expected, uint##bits##_t desired, int order, int failure_order) {                        \
    return explored_compare##bits(at, expected, desired, HERE, order, failure_order);                                             \
  }                                                                                                         \
  TAKEN int __tsan_atomic##bits##_compare_exchange_strong(volatile uint##bits##_t *at,                      \
    uint##bits##_t *expected, uint##bits##_t desired, int order, int failure_order) {                       \
    uint##bits##_t wanted = *expected;                                                                      \
    *expected = explored_compare##bits(at, wanted, desired, HERE, order, failure_order);                                          \
    return *expected == wanted;                                                                             \
  }                                                                                                         \
  TAKEN int __tsan_atomic##bits##_compare_exchange_weak(volatile uint##bits##_t *at,                        \
    uint##bits##_t *expected, uint##bits##_t desired, int order, int failure_order) {                       \
    uint##bits##_t wanted = *expected;                                                                      \
    *expected = explored_compare##bits(at, wanted, desired, HERE, order, failure_order);                                          \
    return *expected == wanted;                                                                             \
  }

COMPARISONS(8)
COMPARISONS(16)
COMPARISONS(32)
COMPARISONS(64)

// Two words: all by one instruction, which compares.

typedef unsigned __int128 two_words;

#if defined(__x86_64__)
// Not made part of a function that may not use the instruction: the linker would be asked for one that does.
#define TWO_WORDS __attribute__((target("cx16"), noinline))
#else
#define TWO_WORDS
#endif

TWO_WORDS static two_words compare128(volatile two_words *at, two_words expected, two_words desired) {
  return __sync_val_compare_and_swap(at, expected, desired);
}

/// Writes what `change` makes of what it finds.
static two_words change128(volatile two_words *at, two_words value,
  two_words (*change)(two_words found, two_words value)) {
  two_words found = compare128(at, 0, 0);
  while (true) {
    two_words now = compare128(at, found, change(found, value));
    if (now == found) return found;
    found = now;
  }
}

static two_words take_128(two_words found, two_words value) { return (void)found, value; }
static two_words add_128(two_words found, two_words value) { return found + value; }
static two_words sub_128(two_words found, two_words value) { return found - value; }
static two_words and_128(two_words found, two_words value) { return found & value; }
static two_words or_128(two_words found, two_words value) { return found | value; }
static two_words xor_128(two_words found, two_words value) { return found ^ value; }
static two_words nand_128(two_words found, two_words value) { return ~(found & value); }

TAKEN two_words __tsan_atomic128_load(const volatile two_words *at, int order) {
  if (IS_POINT(at)) {
    exploration_pause(point_load, (uintptr_t)at);
    note_order(at, true, false, order);
  }
  return compare128((volatile two_words *)at, 0, 0);
}

TAKEN void __tsan_atomic128_store(volatile two_words *at, two_words value, int order) {
  if (IS_POINT(at)) {
    exploration_pause(point_store, (uintptr_t)at);
    note_order(at, false, true, order);
  }
  change128(at, value, take_128);
}

#define CHANGING_128(name, point, change)                                                                   \
  TAKEN two_words __tsan_atomic128_##name(volatile two_words *at, two_words value, int order) {             \
    if (IS_POINT(at)) {                                                                                     \
      exploration_pause(point, (uintptr_t)at);                                                              \
      note_order(at, true, true, order);                                                                    \
    }                                                                                                       \
    return change128(at, value, change);                                                                    \
  }

CHANGING_128(exchange, point_update, take_128)
CHANGING_128(fetch_add, point_update, add_128)
CHANGING_128(fetch_sub, point_update, sub_128)
CHANGING_128(fetch_and, point_update, and_128)
CHANGING_128(fetch_or, point_update, or_128)
CHANGING_128(fetch_xor, point_update, xor_128)
CHANGING_128(fetch_nand, point_update, nand_128)

static two_words explored_compare128(volatile two_words *at, two_words expected, two_words desired,
  uintptr_t here, int order, int failure_order) {
  if (!IS_POINT_FROM(at, here)) return compare128(at, expected, desired);
  exploration_pause(point_compare, (uintptr_t)at);
  two_words found = compare128(at, expected, desired);
  note_order(at, true, found == expected, found == expected ? order : failure_order);
  note_outcome(found == expected && found != desired);
  return found;
}

TAKEN two_words __tsan_atomic128_compare_exchange_val(volatile two_words *at, two_words expected,
  two_words desired, int order, int failure_order) {
  return explored_compare128(at, expected, desired, HERE, order, failure_order);
}

TAKEN int __tsan_atomic128_compare_exchange_strong(volatile two_words *at, two_words *expected,
  two_words desired, int order, int failure_order) {
  two_words wanted = *expected;
  *expected = explored_compare128(at, wanted, desired, HERE, order, failure_order);
  return *expected == wanted;
}

TAKEN int __tsan_atomic128_compare_exchange_weak(volatile two_words *at, two_words *expected,
  two_words desired, int order, int failure_order) {
  two_words wanted = *expected;
  *expected = explored_compare128(at, wanted, desired, HERE, order, failure_order);
  return *expected == wanted;
}

// `AtomicLazyReference`: functions of the library, which is not instrumented. Whether it has something is all that is
// told of what it holds.

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

#define HAS_SOMETHING(reference) ((uint64_t)(__atomic_load_n((void **)(reference), IN_ORDER) != NULL))

typedef SWIFT void *load_reference_function(const void *type, SELF void *reference);

TAKEN SWIFT void *taken_load_reference(const void *type, SELF void *reference)
  __asm__("$s15Synchronization19AtomicLazyReferenceV4loadxSgyF");
SWIFT void *taken_load_reference(const void *type, SELF void *reference) {
  load_reference_function *original =
    ORIGINAL("$s15Synchronization19AtomicLazyReferenceV4loadxSgyF", load_reference_function *);
  if (!IS_POINT(reference)) return original(type, reference);
  exploration_pause(point_load, (uintptr_t)reference);
  uint64_t found = HAS_SOMETHING(reference);
  void *object = original(type, reference);
  note_order(reference, true, false, __ATOMIC_ACQUIRE);
  note_values(found, 0, sizeof(void *), false, false);
  return object;
}

typedef SWIFT void *store_reference_function(void *object, const void *type, SELF void *reference);

TAKEN SWIFT void *taken_store_reference(void *object, const void *type, SELF void *reference)
  __asm__("$s15Synchronization19AtomicLazyReferenceV10storeIfNilyxxnF");
SWIFT void *taken_store_reference(void *object, const void *type, SELF void *reference) {
  store_reference_function *original =
    ORIGINAL("$s15Synchronization19AtomicLazyReferenceV10storeIfNilyxxnF", store_reference_function *);
  if (!IS_POINT(reference)) return original(object, type, reference);
  exploration_pause(point_compare, (uintptr_t)reference);
  uint64_t found = HAS_SOMETHING(reference);
  note_order(reference, true, !found, found ? __ATOMIC_ACQUIRE : __ATOMIC_ACQ_REL);
  void *stored = original(object, type, reference);
  note_values(found, 1, sizeof(void *), !found, !found);
  note_outcome(!found);
  return stored;
}

TAKEN void __tsan_atomic_thread_fence(int order) {
  if (IS_ORDER_NOTED) race_fence(order);
  __atomic_thread_fence(IN_ORDER);
}

TAKEN void __tsan_atomic_signal_fence(int order) {
  (void)order;
  __atomic_signal_fence(IN_ORDER);
}

#endif
