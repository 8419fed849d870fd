// SPDX-License-Identifier: BSD-3-Clause
// Where the parts of Sumac are, found from this command's path or from SUMAC_ROOT.
#pragma once

#include <limits.h>

struct installation {
  char prefix[PATH_MAX];   // this command is <prefix>/bin/sumac
  char root[PATH_MAX];     // the library is in <root>/lib; in a wheel, inside the package
  char library[PATH_MAX];  // libsumac.so, or "" if it is missing
};

// Fills `here`. Returns -1 if the command's own path cannot be found.
int find_installation(struct installation* here);

// Finds one of Sumac's own programs, which are in sumac/ beside the library. Returns 0 with `path`
// (of PATH_MAX), or -1.
int find_part(const struct installation* here, const char* name, char* path);

// Finds the Python package sumac_mpi. Returns 0 with its folder in `package` (of PATH_MAX), or -1.
int find_python_package(const struct installation* here, char* package);

enum python_kind {
  kPythonOfPackages,  // the one for which 'make install' has installed the needed packages
  kPythonBeside,      // that of the environment in which this command is installed
  kPythonInPath,      // a name, to be searched in PATH
  kPythonGone         // one of the first kind that no longer exists
};

// The interpreter that runs the package, in `python` (of PATH_MAX).
enum python_kind find_python(const struct installation* here, const char* package, char* python);
