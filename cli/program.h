// SPDX-License-Identifier: BSD-3-Clause
// The program that `sumac exec` executes.
#pragma once

// Finds `name` as a shell would. Returns 0 with `path` (of PATH_MAX) set, or the exit code that
// says why it cannot be run: kExitNotFound, kExitNotExecutable.
int find_program(const char* name, char* path);

// Prints why `name` cannot be run; returns `code`.
int report_program(const char* name, int code);
