/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of the program. */
#ifndef CG_OPTIONS_H
#define CG_OPTIONS_H

#include "solver.h"

struct method {
  const char* name;
  solver_method* run;
};

struct options {
  int cells, limit, problems, tests, replacement;
  double tolerance;
  const struct method* method;
  const char* history_file;
};

extern const char kUsage[];

/* Fills *options from the arguments and the defaults. Returns 0 when the arguments are invalid. */
int parse_options(int argc, char** argv, struct options* options);

#endif
