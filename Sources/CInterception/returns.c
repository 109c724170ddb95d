#include "Taken.h"

#if !defined(NOTHING_IS_TAKEN) && !defined(MEMORY_AND_THREADS_ARE_NOT_TAKEN)

#include <malloc.h>

// Memory that the code under study gives back by itself, with `deallocate()`, a function of the library where the code
// is not optimised, or with `free`. It is kept until the next schedule begins: so nothing else comes to lie there, and
// who uses it still is seen. An object's memory is not looked at: who let go of it before may have done so in the
// library.

_Thread_local void *taken_passed_on;

bool taken_keep_given_back(void *memory, uintptr_t here) {
  if (!memory || !IS_ORDER_NOTED || memory == taken_passed_on || !is_under_study(here)) return false;
  struct race_place place = taken_place(here);
  return race_end((uintptr_t)memory, malloc_usable_size(memory), &place, IS_ORDER_KNOWN);
}

typedef void give_back_function(void *, size_t, size_t);

TAKEN void swift_slowDealloc(void *memory, size_t size, size_t mask) {
  if (taken_keep_given_back(memory, HERE)) return;
  PASS_ON(memory, ORIGINAL("swift_slowDealloc", give_back_function *)(memory, size, mask));
}

#define SWIFT __attribute__((swiftcall))

#define GIVEN_BACK(name, symbol, parameters, ...)                                                           \
  TAKEN SWIFT void name parameters __asm__(symbol);                                                         \
  SWIFT void name parameters {                                                                              \
    typedef SWIFT void original_function parameters;                                                        \
    if (taken_keep_given_back(memory, HERE)) return;                                                        \
    PASS_ON(memory, ORIGINAL(symbol, original_function *)(__VA_ARGS__));                                    \
  }

#define OF_POINTER (void *memory, const void *type), memory, type
#define OF_RAW_POINTER (void *memory), memory
#define OF_BUFFER (void *memory, size_t count, const void *type), memory, count, type
#define OF_RAW_BUFFER (void *memory, void *end), memory, end
#define GIVEN_BACK_BY(...) GIVEN_BACK(__VA_ARGS__)

GIVEN_BACK_BY(taken_pointer_given_back, "$sSp10deallocateyyF", OF_POINTER)
GIVEN_BACK_BY(taken_constant_pointer_given_back, "$sSP10deallocateyyF", OF_POINTER)
GIVEN_BACK_BY(taken_raw_pointer_given_back, "$sSv10deallocateyyF", OF_RAW_POINTER)
GIVEN_BACK_BY(taken_constant_raw_pointer_given_back, "$sSV10deallocateyyF", OF_RAW_POINTER)
GIVEN_BACK_BY(taken_buffer_given_back, "$sSr10deallocateyyF", OF_BUFFER)
GIVEN_BACK_BY(taken_constant_buffer_given_back, "$sSR10deallocateyyF", OF_BUFFER)
GIVEN_BACK_BY(taken_raw_buffer_given_back, "$sSw10deallocateyyF", OF_RAW_BUFFER)
GIVEN_BACK_BY(taken_constant_raw_buffer_given_back, "$sSW10deallocateyyF", OF_RAW_BUFFER)

#endif
