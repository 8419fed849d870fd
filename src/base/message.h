// SPDX-License-Identifier: BSD-3-Clause
// Lines that Sumac writes to standard error. In C, for the stub and the command; the library's log
// (observe/log.h) writes them the same way.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// "sumac: ...", with the end of the line and a terminating zero; longer text is cut off.
struct sumac_line {
  char text[1024];
  size_t length;
};

// Composes "sumac: " PREFIX and the formatted text.
void sumac_compose_line(struct sumac_line* line, const char* prefix, const char* format,
                        va_list arguments);

// One write, so that the lines of several ranks do not mix, past any stdio stream of the program's.
void sumac_write_line(const struct sumac_line* line);

// False where warnings are not wanted: SUMAC_DEBUG is off, or this is not the job's first rank. For
// what happens before the options are read.
bool sumac_may_warn(void);

#ifdef __cplusplus
}
#endif
