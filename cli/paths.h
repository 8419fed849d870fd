// SPDX-License-Identifier: BSD-3-Clause
// Where the parts of Sumac lie, seen from this command or from SUMAC_ROOT.
#pragma once

#include <limits.h>

struct installation {
  char prefix[PATH_MAX];   // this command is <prefix>/bin/sumac
  char root[PATH_MAX];     // where the library lies is <root>/lib; a wheel's is inside its package
  char library[PATH_MAX];  // libsumac.so, or "" when it is missing
};

// Fills `here`. Returns -1 when not even the command's own place can be told.
int find_installation(struct installation* here);

// Finds one of Sumac's own programs, which lie in sumac/ beside the library. Returns 0 with `path`
// (of PATH_MAX), or -1.
int find_part(const struct installation* here, const char* name, char* path);

// Finds the Python package sumac_mpi. Returns 1 with the directory to add to PYTHONPATH ("" when
// Python finds the package by itself), or 0.
int find_python_package(const struct installation* here, char* python_path);

// The interpreter beside this command, or else "python3", to be looked for in PATH.
void find_python(const struct installation* here, char* python);
