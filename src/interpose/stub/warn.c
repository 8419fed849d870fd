// SPDX-License-Identifier: BSD-3-Clause
// The stub warns, reports errors, and speaks at the end of a process in which it has seen no call.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/switch_word.h"
#include "interpose/stub/internal.h"

static void say(const char* level, const char* slug, const char* format, va_list arguments) {
  char prefix[80];
  struct sumac_line line;
  snprintf(prefix, sizeof prefix, "%s[%s]: ", level, slug);
  sumac_compose_line(&line, prefix, format, arguments);
  sumac_write_line(&line);
}

void stub_warn(const char* slug, const char* format, ...) {
  if (!sumac_may_warn()) return;
  va_list arguments;
  va_start(arguments, format);
  say("warning", slug, format, arguments);
  va_end(arguments);
}

void stub_error(const char* slug, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say("error", slug, format, arguments);
  va_end(arguments);
}

static bool is_asked_for(const char* variable) {
  const char* value = getenv(variable);
  return value != NULL && value[0] != '\0' && sumac_switch_word(value) != 0;
}

// Speaks if Sumac has not seen a call of its MPI. It runs in every process of a job, so it returns
// at once unless somebody has asked for statistics or messages.
void stub_at_exit(void) {
  struct mpi_library mpi;
  if (stub_was_called() || (!is_asked_for("SUMAC_STATS") && !is_asked_for("SUMAC_DEBUG"))) return;
  if (!stub_find_mpi(&mpi, NULL, NULL)) return;
  stub_warn("no-calls",
            "%s is in this process, but no call of it came to Sumac\n"
            "  why:   the program made none, or it looks the MPI's functions up itself (dlsym), as "
            "MPI.jl does",
            mpi.path);
  stub_forget_mpi(&mpi);
}
