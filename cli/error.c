// SPDX-License-Identifier: BSD-3-Clause
#include "error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"

// One write, so that the lines of several ranks do not mix.
static void say(const char* level, const char* slug, const char* what, const char* found,
                const char* fix) {
  char text[8192];
  size_t length = (size_t)snprintf(text, sizeof text, "sumac: %s[%s]: %s\n", level, slug, what);
  if (found != NULL && length < sizeof text) {
    length += (size_t)snprintf(text + length, sizeof text - length, "  found: %s\n", found);
  }
  if (fix != NULL && length < sizeof text) {
    snprintf(text + length, sizeof text - length, "  fix:   %s\n", fix);
  }
  fputs(text, stderr);
}

void report_error(const char* slug, const char* what, const char* found, const char* fix) {
  say("error", slug, what, found, fix);
}

void report_warning(const char* slug, const char* what) {
  if (sumac_may_warn()) say("warning", slug, what, NULL, NULL);
}

int finish_output(int code) {
  const int lost = ferror(stdout);
  if (fflush(stdout) == 0 && !lost) return code;
  char what[256];
  snprintf(what, sizeof what, "cannot write to standard output: %s", strerror(errno));
  report_error("output", what, NULL, NULL);
  return kExitFailed;
}
