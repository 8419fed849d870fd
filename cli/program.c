// SPDX-License-Identifier: BSD-3-Clause
#include "program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"

// Whether `path` can be run: 0, or kExitNotFound, or kExitNotExecutable.
static int runnable(const char* path) {
  struct stat status;
  if (stat(path, &status) != 0) return errno == EACCES ? kExitNotExecutable : kExitNotFound;
  return S_ISREG(status.st_mode) && access(path, X_OK) == 0 ? 0 : kExitNotExecutable;
}

int find_program(const char* name, char* path) {
  if (strchr(name, '/') != NULL) {
    if (strlen(name) >= PATH_MAX) return kExitNotFound;
    strcpy(path, name);
    return runnable(path);
  }
  const char* directory = getenv("PATH");
  if (directory == NULL) directory = "/bin:/usr/bin";
  int result = kExitNotFound;
  for (;;) {
    const size_t length = strcspn(directory, ":");
    const int size =
        snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, directory, length > 0 ? "/" : "./", name);
    const int found = size < PATH_MAX && name[0] != '\0' ? runnable(path) : kExitNotFound;
    if (found == 0) return 0;
    if (found == kExitNotExecutable) result = found;
    if (directory[length] == '\0') return result;
    directory += length + 1;
  }
}

int report_program(const char* name, int code) {
  char what[PATH_MAX + 64];
  if (code == kExitNotFound) {
    snprintf(what, sizeof what, "no program %s", name);
    report_error("not-found", what, strchr(name, '/') == NULL ? "looked in PATH" : NULL,
                 "give its path, as in ./program");
  } else {
    snprintf(what, sizeof what, "%s cannot be executed", name);
    report_error("not-executable", what, NULL, "chmod +x it, or name the program that runs it");
  }
  return code;
}
