#include "CExplorable.h"
#include <string.h>
#include <unistd.h>

_Thread_local struct explored_thread explored_thread;
struct exploration_answers exploration_answers;
const struct interception *interception = 0;
int instrumented_files = 0;

bool exploration_pause(uint8_t point, uintptr_t object) {
  explored_thread.is_open = 0;
  explored_thread.due = 0;
  explored_thread.points++;
  bool may = exploration_answers.pause(point, object);
  points_reopen(true);
  return may;
}

void points_open(void) {
  if (__atomic_load_n(&races_are_looked_for, __ATOMIC_RELAXED)) race_forget_stack();
  explored_thread.is_open = 1;
  explored_thread.due = 0;
  explored_thread.task = 0;
  explored_thread.is_seen = false;
  explored_thread.depth = 0;
  explored_thread.dying = 0;
  explored_thread.held_inside = 0;
}

bool points_close(void) {
  bool were_open = explored_thread.is_open;
  explored_thread.is_open = 0;
  return were_open;
}

bool points_are_open(void) { return explored_thread.is_open; }

void points_reopen(bool were_open) {
  explored_thread.is_open = were_open && !explored_thread.is_let_go;
}

void points_end(void) {
  explored_thread.is_let_go = true;
  explored_thread.is_open = 0;
}

void points_are_due(uint8_t point) { explored_thread.due = point; }

bool points_seen(void) { return explored_thread.is_seen; }

uintptr_t subject_of_point(void) { return explored_thread.subject; }

unsigned long points_of_hop(uintptr_t *points, unsigned long room) {
  if (room == 0) return 0;
  points[0] = explored_thread.hop_function;
  // As if the context stood below a frame.
  uintptr_t frame[2] = {explored_thread.hop_context, 0};
  return 1 + stack_callers((uintptr_t)&frame[1], points + 1, room - 1);
}

// Written by the thread of the one exploration under way on which the code under study runs, and read by the one that
// explores once that one has said that it is paused.
static char words[2048];
static size_t word_count;
static bool are_kept_back;

void last_words_note(const char *text, size_t count) {
  // The end of it is what counts.
  if (word_count + count > sizeof words) word_count = 0;
  if (count > sizeof words) count = sizeof words;
  memcpy(words + word_count, text, count);
  word_count += count;
}

size_t last_words(char *text, size_t room) {
  size_t count = word_count < room ? word_count : room;
  memcpy(text, words, count);
  return count;
}

void last_words_forget(void) { word_count = 0; }

void last_words_tell(void) {
  if (last_words_are_kept_back() && word_count > 0) (void)!write(STDERR_FILENO, words, word_count);
}

void last_words_keep_back(bool are) { __atomic_store_n(&are_kept_back, are, __ATOMIC_RELEASE); }

bool last_words_are_kept_back(void) { return __atomic_load_n(&are_kept_back, __ATOMIC_ACQUIRE); }
