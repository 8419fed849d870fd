// SPDX-License-Identifier: BSD-3-Clause
#include "base/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/c_locale.h"
#include "base/launch.h"
#include "base/switch_word.h"
#include "base/write_signals.h"

void sumac_compose_line(struct sumac_line* line, const char* prefix, const char* format,
                        va_list arguments) {
  const int room = (int)sizeof line->text - 2;
  const locale_t own = sumac_use_c_locale();
  int length = snprintf(line->text, (size_t)room + 1, "sumac: %s", prefix);
  if (length < room) {
    length += vsnprintf(line->text + length, (size_t)(room - length) + 1, format, arguments);
  }
  uselocale(own);
  if (length > room) length = room;
  line->text[length++] = '\n';
  line->text[length] = '\0';
  line->length = (size_t)length;
}

void sumac_write_line(const struct sumac_line* line) {
  struct sumac_write_signals signals;
  sumac_hold_write_signals(&signals);
  const ssize_t written = write(STDERR_FILENO, line->text, line->length);
  (void)written;  // if the write fails, there is nowhere left to say so
  sumac_drop_write_signals(&signals);
}

static const char* debug_word;  // NULL: the variable's

void sumac_set_debug_word(const char* word) { debug_word = word; }

bool sumac_may_warn(void) {
  const char* debug = debug_word != NULL ? debug_word : getenv("SUMAC_DEBUG");
  return sumac_launch_rank() <= 0 && (debug == NULL || sumac_switch_word(debug) != 0);
}
