#define _GNU_SOURCE
#include "CExplorable.h"
#include <string.h>
#include <sys/socket.h>

// What the language has no other way to, and `Symbolizer` needs.

// What the runtime's own backtraces are told with, without types; no header of the toolchain declares it.
extern char *_swift_backtrace_demangle(const char *name, size_t length, char *output, size_t *size);

char *demangled_name(const char *name) { return _swift_backtrace_demangle(name, strlen(name), NULL, NULL); }

bool connection_for_one(int *ends) { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0; }
