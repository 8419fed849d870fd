// SPDX-License-Identifier: BSD-3-Clause
#include <stdarg.h>
#include <stdio.h>

#include "base/message.h"
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
