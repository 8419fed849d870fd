/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char kUsage[] =
    "usage: cg [-m METHOD] [-n CELLS] [-i ITERATIONS] [-t TOLERANCE] [-r PROBLEMS] [-o FILE]\n"
    "          [-p TESTS] [-k ITERATIONS]\n"
    "  -m  plain or pipelined conjugate gradients (plain)\n"
    "  -n  cells of a rank along each dimension (8)\n"
    "  -i  iterations allowed for one problem (1000)\n"
    "  -t  residual to reach, relative to the right-hand side's norm (1e-8)\n"
    "  -r  problems to solve, one after another (10)\n"
    "  -o  file for the residual after each iteration, as hexadecimal floats\n"
    "  -p  pipelined: calls of MPI_Test during a product, for the MPI to advance the sums (0)\n"
    "  -k  pipelined: compute the residual anew every so many iterations (50; 0: never)\n";

static const struct method kMethods[] = {{"plain", solver_run_plain},
                                         {"pipelined", solver_run_pipelined}};

/* Parses a whole number of at least `least` into *value. Returns 0 when there is none. */
static int parse_count(const char* text, int least, int* value) {
  char* end;
  errno = 0;
  const long number = strtol(text, &end, 10);
  if (errno || *end || end == text || number < least || number > 1000000) return 0;
  *value = (int)number;
  return 1;
}

static int parse_tolerance(const char* text, double* value) {
  char* end;
  *value = strtod(text, &end);
  return !*end && *value > 0 && *value < 1;
}

static int parse_method(const char* text, const struct method** method) {
  for (size_t i = 0; i < sizeof kMethods / sizeof *kMethods; ++i) {
    if (strcmp(text, kMethods[i].name) != 0) continue;
    *method = &kMethods[i];
    return 1;
  }
  return 0;
}

static int parse_option(int option, const char* text, struct options* options) {
  switch (option) {
    case 'm':
      return parse_method(text, &options->method);
    case 'n':
      return parse_count(text, 1, &options->cells) && options->cells <= 1024;
    case 'i':
      return parse_count(text, 1, &options->limit);
    case 'r':
      return parse_count(text, 1, &options->problems);
    case 't':
      return parse_tolerance(text, &options->tolerance);
    case 'o':
      options->history_file = text;
      return 1;
    case 'p':
      return parse_count(text, 0, &options->tests);
    case 'k':
      return parse_count(text, 0, &options->replacement);
    default:
      return 0;
  }
}

int parse_options(int argc, char** argv, struct options* options) {
  int option;
  *options = (struct options){.cells = 8,
                              .limit = 1000,
                              .problems = 10,
                              .replacement = 50,
                              .tolerance = 1e-8,
                              .method = &kMethods[0]};
  opterr = 0;
  while ((option = getopt(argc, argv, "m:n:i:t:r:o:p:k:")) != -1)
    if (!parse_option(option, optarg, options)) return 0;
  return optind == argc;
}
