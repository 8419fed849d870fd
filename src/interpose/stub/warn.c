// SPDX-License-Identifier: BSD-3-Clause
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/switch_word.h"
#include "config/launch.h"
#include "interpose/stub/internal.h"

// One write, so that the lines of several ranks do not mix; no stdio stream of the program's.
static void say(const char* level, const char* slug, const char* format, va_list arguments) {
  char line[1024];
  const int room = (int)sizeof line - 1;
  int length = snprintf(line, sizeof line, "sumac: %s[%s]: ", level, slug);
  length += vsnprintf(line + length, sizeof line - (size_t)length, format, arguments);
  if (length > room) length = room;
  line[length++] = '\n';
  if (write(STDERR_FILENO, line, (size_t)length) < 0) return;  // nowhere left to say so
}

void stub_warn(const char* slug, const char* format, ...) {
  const char* debug = getenv("SUMAC_DEBUG");
  if (sumac_launch_rank() > 0 || (debug != NULL && sumac_switch_word(debug) == 0)) return;
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
