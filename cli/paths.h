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

// Finds the Python package sumac_mpi. Returns 0 with its folder in `package` (of PATH_MAX), or -1.
int find_python_package(const struct installation* here, char* package);

enum python_kind {
  kPythonOfPackages,  // the one that 'make install' has put the needed packages beside ours for
  kPythonBeside,      // of the environment that this command is in
  kPythonInPath,      // a name, to be looked for in PATH
  kPythonGone         // it was of the first kind, and is no longer there
};

// The interpreter that runs the package, in `python` (of PATH_MAX).
enum python_kind find_python(const struct installation* here, const char* package, char* python);
