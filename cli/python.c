// SPDX-License-Identifier: BSD-3-Clause
// Hands the command line to another program: that of sumac plan, or the Python package, by
// python3 <folder of sumac_mpi> ARGUMENTS, with the place of the library in SUMAC_ROOT. Python gets
// the folder and not the package's name, so that PYTHONPATH need not be changed, which the job's
// own Python programs would inherit.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "environment.h"
#include "error.h"
#include "paths.h"

static const char kFix[] =
    "install Sumac by 'make install', which brings what is needed; 'sumac exec' and 'sumac plan' "
    "work without";

static int is_known(const char* command) {
  static const char* const names[] = {"run",      "info",   "check",      "bench",
                                      "tune",     "plot",   "trace",      "profile",
                                      "simulate", "doctor", "completion", NULL};
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
  report_error("no-python", what, found, kFix);
  return kExitCannotWork;
}

// The user's settings for Python (PYTHONHOME, PYTHONPATH, the user's own packages) are meant for
// the user's programs: they apply only to a Python that the user has chosen.
static const char* flags_for(enum python_kind kind) {
  if (kind == kPythonOfPackages) return "-IS";  // the packages of that Python are not needed either
  return kind == kPythonBeside ? "-I" : NULL;
}

int command_python(int argc, char** argv) {
  const char* command = argc > 1 ? argv[1] : "completion";  // a shell gives no arguments
  struct installation here;
  char python[PATH_MAX], package[PATH_MAX], found[PATH_MAX + 64];
  if (find_installation(&here) != 0 || find_python_package(&here, package) != 0) {
    snprintf(found, sizeof found, "no sumac_mpi under %s/lib", here.prefix);
    return report_no_python(command, found);
  }
  const enum python_kind kind = find_python(&here, package, python);
  if (kind == kPythonGone) {
    snprintf(found, sizeof found, "%s, which it was installed for, is no longer there", python);
    return report_no_python(command, found);
  }
  char** arguments = calloc((size_t)argc + 3, sizeof *arguments);
  if (arguments == NULL) return kExitExecFailed;
  int count = 0;
  arguments[count++] = python;
  if (flags_for(kind) != NULL) arguments[count++] = (char*)flags_for(kind);
  arguments[count++] = package;
  for (int i = 1; i < argc; ++i) arguments[count++] = argv[i];
  setenv("SUMAC_ROOT", here.root, 1);
  execvp(python, arguments);
  free(arguments);
  snprintf(found, sizeof found, "no %s in PATH", python);
  return report_no_python(command, found);
}

// Executes the program sumac-plan, which is in C++ because Python starts slowly. It shows what the
// library would choose here, so the site's rules count.
int command_plan(char** argv) {
  struct installation here;
  char path[PATH_MAX] = "", found[PATH_MAX + 64];
  static const char* const options[] = {"RULES", "HIERARCHY", "ALGO"};
  if (find_installation(&here) == 0 && find_part(&here, "sumac-plan", path) == 0) {
    const struct sumac_site* site = read_site(here.library);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; ++i) set_variable(site, options[i]);
    execv(path, argv);
    snprintf(found, sizeof found, "%s: %s", path, strerror(errno));
  } else {
    snprintf(found, sizeof found, "no sumac-plan in %s", here.root);
  }
  report_error("no-program", "this Sumac has no program for 'sumac plan'", found,
               "build Sumac where CLI11, nlohmann-json and hwloc are installed");
  return kExitCannotWork;
}
