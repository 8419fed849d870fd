// SPDX-License-Identifier: BSD-3-Clause
// Errors of the sumac command: three lines on standard error, and an exit code.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum exit_code {
  kExitFailed = 1,        // output that cannot be written
  kExitUsage = 2,         // a bad flag, value or name
  kExitCannotWork = 3,    // cannot work here: another MPI, no Python
  kExitExecFailed = 125,  // the command itself failed, as in env and timeout
  kExitNotExecutable = 126,
  kExitNotFound = 127,
};

// sumac: error[slug]: what / found: ... / fix: ... ; `found` and `fix` may be NULL.
void report_error(const char* slug, const char* what, const char* found, const char* fix);

// One line "sumac: warning[slug]: what", from the first rank of the job and unless SUMAC_DEBUG=off.
void report_warning(const char* slug, const char* what);

// Flushes the output at the end of a command. Returns `code`, or another if output was lost.
int finish_output(int code);

#ifdef __cplusplus
}
#endif
