// SPDX-License-Identifier: BSD-3-Clause
#include "base/process_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Fills `found` from "1234 (name) S 1 ...". The name may contain blanks and parentheses.
static int parse(char* text, struct sumac_process_stat* found) {
  enum { kState = 3, kParent = 4, kThreads = 20, kBegin = 22 };  // fields, counted from 1
  const char* const name = strchr(text, '(');
  char* place = strrchr(text, ')');
  if (name == NULL || place == NULL || place < name) return 0;
  *place++ = '\0';
  snprintf(found->name, sizeof found->name, "%s", name + 1);
  for (int field = kState; field <= kBegin; ++field) {
    place = strchr(place, ' ');
    if (place == NULL) return 0;
    ++place;
    if (field == kState) found->state = *place;
    if (field == kParent) found->parent = (pid_t)strtol(place, NULL, 10);
    if (field == kThreads) found->threads = strtol(place, NULL, 10);
    if (field == kBegin) found->begin = strtoull(place, NULL, 10);
  }
  return 1;
}

int sumac_read_process_stat(const char* proc, pid_t pid, struct sumac_process_stat* found) {
  char path[256], text[1024];
  snprintf(path, sizeof path, "%s/%d/stat", proc, (int)pid);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  text[got > 0 ? got : 0] = '\0';
  memset(found, 0, sizeof *found);
  return parse(text, found);
}
