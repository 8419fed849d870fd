// SPDX-License-Identifier: BSD-3-Clause
// Sumac writes these lines to standard error. The file is in C for the stub and the command; the
// library's log (observe/log.h) writes its lines the same way.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// The text is "sumac: ..." with the end of the line and a terminating zero. Longer text is cut off.
struct sumac_line {
  char text[1024];
  size_t length;
};

// Composes "sumac: ", PREFIX and the formatted text.
void sumac_compose_line(struct sumac_line* line, const char* prefix, const char* format,
                        va_list arguments);

// Writes the line by one system call, so that the lines of several ranks do not mix, and past the
// program's stdio streams.
void sumac_write_line(const struct sumac_line* line);

// Sets what counts from now on in the place of SUMAC_DEBUG. The text must stay.
void sumac_set_debug_word(const char* word);

// Returns false if warnings are not wanted: SUMAC_DEBUG is off, or this is not the job's first
// rank. Callers use it before the options are read.
bool sumac_may_warn(void);

#ifdef __cplusplus
}
#endif
