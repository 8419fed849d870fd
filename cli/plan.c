// SPDX-License-Identifier: BSD-3-Clause
// sumac plan: executes the program sumac-plan, which is in C++ because Python starts slowly.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "error.h"
#include "paths.h"

int command_plan(char** argv) {
  struct installation here;
  char path[PATH_MAX] = "", found[PATH_MAX + 64];
  if (find_installation(&here) == 0 && find_part(&here, "sumac-plan", path) == 0) {
    execv(path, argv);
    snprintf(found, sizeof found, "%s: %s", path, strerror(errno));
  } else {
    snprintf(found, sizeof found, "no sumac-plan in %s", here.root);
  }
  report_error("no-program", "this Sumac has no program for 'sumac plan'", found,
               "build Sumac where CLI11, nlohmann-json and hwloc are installed");
  return kExitCannotWork;
}
