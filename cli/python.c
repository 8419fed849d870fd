// SPDX-License-Identifier: BSD-3-Clause
// Hands the command line to the Python package: python3 -m sumac_mpi ARGUMENTS, with SUMAC_ROOT
// telling it where the library is.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "environment.h"
#include "error.h"
#include "paths.h"

static int is_known(const char* command) {
  static const char* const names[] = {"run", "info", "check", "bench", "plot", "trace", NULL};
  for (int i = 0; names[i] != NULL; ++i) {
    if (strcmp(command, names[i]) == 0) return 1;
  }
  return 0;
}

static int report_no_python(const char* command, const char* found) {
  char what[256];
  if (!is_known(command)) {
    snprintf(what, sizeof what, "'%.80s' is not a command", command);
    report_error("unknown-command", what, NULL, "'sumac --help' lists the commands");
    return kExitUsage;
  }
  snprintf(what, sizeof what, "'sumac %s' needs Python 3 and the package sumac_mpi", command);
  report_error("no-python", what, found, "pip install sumac-mpi; 'sumac exec' works without");
  return kExitCannotWork;
}

int command_python(int argc, char** argv) {
  struct installation here;
  char python[PATH_MAX], python_path[PATH_MAX], found[PATH_MAX + 64];
  if (find_installation(&here) != 0 || !find_python_package(&here, python_path)) {
    snprintf(found, sizeof found, "no sumac_mpi under %s/lib", here.prefix);
    return report_no_python(argv[1], found);
  }
  find_python(&here, python);
  char** arguments = calloc((size_t)argc + 3, sizeof *arguments);
  if (arguments == NULL) return kExitExecFailed;
  arguments[0] = python;
  arguments[1] = "-m";
  arguments[2] = "sumac_mpi";
  for (int i = 1; i < argc; ++i) arguments[i + 2] = argv[i];
  setenv("SUMAC_ROOT", here.root, 1);
  if (python_path[0] != '\0') prepend_path("PYTHONPATH", python_path);
  execvp(python, arguments);
  free(arguments);
  return report_no_python(argv[1], "no python3 in PATH");
}
