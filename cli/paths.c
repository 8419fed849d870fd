// SPDX-License-Identifier: BSD-3-Clause
#include "paths.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

// Below the prefix of a Python; Debian's own has the other name.
static const char kSitePackage[] = "/lib*/python3*/{site,dist}-packages/sumac_mpi";

// Joins two pieces into a buffer of PATH_MAX. Returns -1 when the result would not fit.
static int join(char* path, const char* left, const char* right) {
  const int length = snprintf(path, PATH_MAX, "%s%s", left, right);
  return length >= 0 && length < PATH_MAX ? 0 : -1;
}

static int strip_last(char* path) {
  char* slash = strrchr(path, '/');
  if (slash == NULL) return -1;
  *slash = '\0';
  return 0;
}

static int find_library(struct installation* here, const char* root) {
  static const char* const places[] = {"/" SUMAC_LIBDIR "/libsumac.so", "/lib/libsumac.so",
                                       "/lib/sumac/libsumac.so"};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i) {
    if (join(here->library, root, places[i]) == 0 && access(here->library, R_OK) == 0) {
      return join(here->root, root, "");
    }
  }
  here->library[0] = '\0';
  return -1;
}

// Calls `find` on each match of <prefix><pattern> until it returns 0.
static int find_in_matches(struct installation* here, const char* pattern,
                           int (*find)(struct installation*, const char*)) {
  char full[PATH_MAX];
  glob_t matches;
  int result = -1;
  if (join(full, here->prefix, pattern) != 0 || glob(full, GLOB_BRACE, NULL, &matches) != 0)
    return -1;
  for (size_t i = 0; result != 0 && i < matches.gl_pathc; ++i) {
    result = find(here, matches.gl_pathv[i]);
  }
  globfree(&matches);
  return result;
}

// Without /proc: by the path by which the kernel was told to start this program.
static int find_own_file(char* path) {
  const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
  if (length > 0) {
    path[length] = '\0';
    return 0;
  }
  const char* started_as = (const char*)getauxval(AT_EXECFN);
  return started_as != NULL && realpath(started_as, path) != NULL ? 0 : -1;
}

int find_installation(struct installation* here) {
  if (find_own_file(here->prefix) != 0) return -1;
  if (strip_last(here->prefix) != 0 || strip_last(here->prefix) != 0) return -1;

  const char* root = getenv("SUMAC_ROOT");
  if (root != NULL && root[0] != '\0') {
    if (find_library(here, root) != 0) join(here->root, root, "");
    return 0;
  }
  if (find_library(here, here->prefix) != 0 &&
      find_in_matches(here, kSitePackage, find_library) != 0) {
    join(here->root, here->prefix, "");
  }
  return 0;
}

int find_part(const struct installation* here, const char* name, char* path) {
  char folder[PATH_MAX], file[PATH_MAX];
  if (join(file, "/sumac/", name) != 0) return -1;
  if (here->library[0] == '\0') {
    if (join(folder, here->root, "/" SUMAC_LIBDIR) != 0) return -1;
  } else if (join(folder, here->library, "") != 0 || strip_last(folder) != 0) {
    return -1;
  }
  return join(path, folder, file) == 0 && access(path, X_OK) == 0 ? 0 : -1;
}

// Stores the path of a package that can be read in `library`.
static int find_package(struct installation* here, const char* package) {
  return access(package, R_OK) == 0 ? join(here->library, package, "") : -1;
}

int find_python_package(const struct installation* here, char* package) {
  struct installation search = *here;
  const char* const prefixes[] = {here->root, here->prefix};
  for (size_t i = 0; i < 2; ++i) {
    if (join(package, prefixes[i], "/lib/sumac/python/sumac_mpi") == 0 &&
        access(package, R_OK) == 0) {
      return 0;
    }
  }
  if (find_in_matches(&search, kSitePackage, find_package) != 0) return -1;
  return join(package, search.library, "");
}

// The name of the Python whose site-packages contain the package; "python3" if there is none.
static const char* name_of_python(const char* package, char* folder) {
  if (join(folder, package, "") == 0 && strip_last(folder) == 0 && strip_last(folder) == 0) {
    const char* name = strrchr(folder, '/') + 1;
    if (strncmp(name, "python3", strlen("python3")) == 0) return name;
  }
  return "python3";
}

enum python_kind find_python(const struct installation* here, const char* package, char* python) {
  char link[PATH_MAX], folder[PATH_MAX];
  if (join(link, package, "/../python3") == 0) {
    const ssize_t length = readlink(link, python, PATH_MAX - 1);
    if (length > 0) {
      python[length] = '\0';
      return access(python, X_OK) == 0 ? kPythonOfPackages : kPythonGone;
    }
  }
  if (join(python, here->prefix, "/bin/python3") == 0 && access(python, X_OK) == 0) {
    return kPythonBeside;
  }
  strcpy(python, name_of_python(package, folder));
  return kPythonInPath;
}
