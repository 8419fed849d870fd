// SPDX-License-Identifier: BSD-3-Clause
#include "base/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/launch.h"
#include "base/switch_word.h"

void sumac_compose_line(struct sumac_line* line, const char* prefix, const char* format,
                        va_list arguments) {
  const int room = (int)sizeof line->text - 2;
  int length = snprintf(line->text, (size_t)room + 1, "sumac: %s", prefix);
  if (length < room) {
    length += vsnprintf(line->text + length, (size_t)(room - length) + 1, format, arguments);
  }
  if (length > room) length = room;
  line->text[length++] = '\n';
  line->text[length] = '\0';
  line->length = (size_t)length;
}

void sumac_write_line(const struct sumac_line* line) {
  if (write(STDERR_FILENO, line->text, line->length) < 0) return;  // nowhere left to say so
}

bool sumac_may_warn(void) {
  const char* debug = getenv("SUMAC_DEBUG");
  return sumac_launch_rank() <= 0 && (debug == NULL || sumac_switch_word(debug) != 0);
}
