#pragma once

#include <histedit.h>
#include <stddef.h>

// `el_wset`, `el_wget` and `history_w` are variadic, which Swift cannot call: here is one function of
// fixed type for each use this package makes of them. The wide forms are used throughout, so that a
// line is never squeezed through the narrow encoding of some locale.

/// How many cells libedit takes a character to be wide, in the thread's locale. (The C library
/// declares it only for programs that ask for X/Open.)
int wcwidth(wchar_t character);

typedef wchar_t *(*cledit_prompt)(EditLine *);
typedef unsigned char (*cledit_command)(EditLine *, int);

/// `escape` encloses the parts of the prompt that take no room on the screen.
static inline int cledit_set_prompt(EditLine *e, cledit_prompt prompt, wchar_t escape) {
  return el_wset(e, EL_PROMPT_ESC, prompt, (int)escape);
}

static inline int cledit_set_reader(EditLine *e, el_rfunc_t read) {
  return el_wset(e, EL_GETCFN, read);
}

static inline int cledit_set_client(EditLine *e, void *client) {
  return el_wset(e, EL_CLIENTDATA, client);
}

static inline void *cledit_client(EditLine *e) {
  void *client = NULL;
  el_wget(e, EL_CLIENTDATA, &client);
  return client;
}

static inline int cledit_set_editor(EditLine *e, const wchar_t *name) {
  return el_wset(e, EL_EDITOR, name);
}

static inline const wchar_t *cledit_editor(EditLine *e) {
  const wchar_t *name = NULL;
  el_wget(e, EL_EDITOR, &name);
  return name;
}

// libedit keeps the names it is given here, and not copies of them: they must be literals.

/// Makes the command `lab-complete`, to be bound to a key.
static inline int cledit_add_complete(EditLine *e, cledit_command command) {
  return el_wset(e, EL_ADDFN, L"lab-complete", L"Complete the word at the cursor", command);
}

/// Makes the commands that move by and delete what a person sees as one character, to be bound to
/// keys.
static inline int cledit_add_characters(EditLine *e, cledit_command delete_before,
                                        cledit_command delete_after, cledit_command left,
                                        cledit_command right) {
  return el_wset(e, EL_ADDFN, L"lab-delete-before", L"Delete the character before", delete_before)
      || el_wset(e, EL_ADDFN, L"lab-delete-after", L"Delete the character after", delete_after)
      || el_wset(e, EL_ADDFN, L"lab-left", L"Go a character to the left", left)
      || el_wset(e, EL_ADDFN, L"lab-right", L"Go a character to the right", right);
}

/// Makes the command `lab-paste`, to be bound to the mark before a paste.
static inline int cledit_add_paste(EditLine *e, cledit_command command) {
  return el_wset(e, EL_ADDFN, L"lab-paste", L"Take pasted text as typed", command);
}

static inline int cledit_bind(EditLine *e, const wchar_t *key, const wchar_t *command) {
  return el_wset(e, EL_BIND, key, command, NULL);
}

/// Changes what the terminal is told while no line is being read (`-x`) or while one is (`-d`).
static inline int cledit_set_terminal(EditLine *e, const wchar_t *when, const wchar_t *mode) {
  return el_wset(e, EL_SETTY, when, mode, NULL);
}

/// Puts the terminal into (1) or out of (0) the mode for editing.
static inline int cledit_prepare(EditLine *e, int editing) {
  return el_wset(e, EL_PREP_TERM, editing);
}

/// Draws prompt and line afresh, taking the cursor's place for their beginning.
static inline int cledit_refresh(EditLine *e) {
  return el_wset(e, EL_REFRESH);
}

static inline int cledit_use_history(EditLine *e, HistoryW *h) {
  return el_wset(e, EL_HIST, history_w, h);
}

static inline int cledit_history_size(HistoryW *h, int entries) {
  HistEventW event;
  return history_w(h, &event, H_SETSIZE, entries);
}

static inline int cledit_history_enter(HistoryW *h, const wchar_t *line) {
  HistEventW event;
  return history_w(h, &event, H_ENTER, line);
}
