#define _GNU_SOURCE
#include "Taken.h"

#ifndef NOTHING_IS_TAKEN

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// How code ends its program. Explored, it is a failure of the schedule under way, whatever the status says, and the
// exploration goes on without the thread; where it cannot, the program ends as one that has failed.

typedef void end_function(int);
typedef void stop_function(void);

int taken_end_program(const char *function, int status) {
  if (!IS_EXPLORED || !exploration_answers.end_program) return status;
  // They stay closed: what the program does at its end is no step.
  points_close();
  return exploration_answers.end_program(function, status);
}

#define END(function)                                                                                       \
  TAKEN __attribute__((noreturn)) void function(int status) {                                               \
    ORIGINAL(#function, end_function *)(taken_end_program(#function, status));                                          \
    __builtin_unreachable();                                                                                \
  }

END(exit)
END(_exit)
END(_Exit)
END(quick_exit)

TAKEN __attribute__((noreturn)) void abort(void) {
  taken_end_program("abort", EXIT_FAILURE);
  ORIGINAL("abort", stop_function *)();
  __builtin_unreachable();
}

/// Whether the signal, sent to the program, ends it.
///
/// Of the first two the exploration itself may have a handler, which ends the program too.
static bool ends_program(int number) {
  if (number == SIGINT || number == SIGTERM || number == SIGKILL) return true;
  struct sigaction action;
  bool has_handler = sigaction(number, NULL, &action) != 0 || action.sa_handler != SIG_DFL;
  return !has_handler && number != SIGCHLD && number != SIGURG && number != SIGWINCH && number != SIGCONT;
}

typedef int signal_function(int);

TAKEN int raise(int number) {
  if (IS_EXPLORED && is_under_study(HERE) && ends_program(number)) taken_end_program("raise", number);
  return ORIGINAL("raise", signal_function *)(number);
}

typedef int signal_of_function(pid_t, int);

TAKEN int kill(pid_t process, int number) {
  if (IS_EXPLORED && process == getpid() && is_under_study(HERE) && number != 0 && ends_program(number)) {
    taken_end_program("kill", number);
  }
  return ORIGINAL("kill", signal_of_function *)(process, number);
}

// What the language's runtime says on standard error of code under study is kept: the last of it says why it ends.
// What it prints of the stack is not, and like the rest it is not printed again and again.

#define IS_OF_END(file) ((file) == stderr && IS_EXPLORED && is_of_runtime(HERE))

typedef int print_function(const char *, FILE *);
typedef size_t write_function(const void *, size_t, size_t, FILE *);

TAKEN int fputs(const char *text, FILE *file) {
  if (IS_OF_END(file)) {
    last_words_note(text, strlen(text));
    if (last_words_are_kept_back()) return 0;
  }
  return ORIGINAL("fputs", print_function *)(text, file);
}

TAKEN size_t fwrite(const void *bytes, size_t size, size_t count, FILE *file) {
  if (IS_OF_END(file) && last_words_are_kept_back()) return count;
  return ORIGINAL("fwrite", write_function *)(bytes, size, count, file);
}

TAKEN int fprintf(FILE *file, const char *format, ...) {
  if (IS_OF_END(file) && last_words_are_kept_back()) return 0;
  va_list rest;
  va_start(rest, format);
  int count = vfprintf(file, format, rest);
  va_end(rest);
  return count;
}

#endif
