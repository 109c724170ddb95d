#pragma once

#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast that Swift does not import: "copy what I bind".
static inline int sqlite3_bind_copied_text(sqlite3_stmt *statement, int place, const char *text, int bytes) {
  return sqlite3_bind_text(statement, place, text, bytes, SQLITE_TRANSIENT);
}

static inline int sqlite3_bind_copied_blob(sqlite3_stmt *statement, int place, const void *data, int bytes) {
  return sqlite3_bind_blob(statement, place, data, bytes, SQLITE_TRANSIENT);
}
