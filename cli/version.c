// SPDX-License-Identifier: BSD-3-Clause
// sumac --version: the version, and on a line of its own which build of it this is.
#include <stdio.h>

#include "commands.h"
#include "commit.h"

int command_version(void) {
  puts("sumac " SUMAC_VERSION "\ncommit " SUMAC_COMMIT ", " SUMAC_COMPILER ", " SUMAC_BUILD_TYPE);
  return 0;
}
