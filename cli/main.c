// SPDX-License-Identifier: BSD-3-Clause
// The sumac command. `exec`, which every rank of a job runs, is done here; what people run by hand
// is in Python.
#include <stdio.h>
#include <string.h>

#include "commands.h"

static const char kHelp[] =
    "Usage: sumac COMMAND [arguments]\n"
    "\n"
    "Faster reductions and broadcasts for unmodified MPI programs.\n"
    "\n"
    "  mpirun -n 4 sumac exec ./program    one program, under any launcher\n"
    "  sumac run -n 4 ./program            finds the launcher of the program's MPI\n"
    "\n"
    "  exec     runs a program with Sumac in front of its MPI; used inside a launcher\n"
    "  run      starts a job through the right launcher, with exec inside\n"
    "  info     what is installed here: MPIs, machine, options, algorithms\n"
    "  check    tests that Sumac works here\n"
    "  bench    measures collectives with and without Sumac\n"
    "  plot     draws the results of bench\n"
    "  trace    draws when each level of a program's collectives worked\n"
    "  plan     shows which algorithms a call would take, on any machine\n"
    "\n"
    "  sumac COMMAND --help    more on a command\n"
    "  sumac --version         the version\n";

static int print_help(void) {
  fputs(kHelp, stdout);
  return 0;
}

static int is(const char* text, const char* short_name, const char* long_name) {
  return strcmp(text, short_name) == 0 || strcmp(text, long_name) == 0;
}

int main(int argc, char** argv) {
  if (argc < 2 || is(argv[1], "-h", "--help") || is(argv[1], "help", "--help")) return print_help();
  const char* command = argv[1];
  if (is(command, "-V", "--version")) {
    puts("sumac " SUMAC_VERSION);
    return 0;
  }
  if (strcmp(command, "exec") == 0) return command_exec(argc - 1, argv + 1);
  if (strcmp(command, "plan") == 0) return command_plan(argv + 1);
  if (strcmp(command, "__options") == 0) return command_options();
  if (strcmp(command, "__calls") == 0) return command_calls();
  if (strcmp(command, "__algorithms") == 0) return command_algorithms();
  if (strcmp(command, "__check-env") == 0) return command_check_env();
  return command_python(argc, argv);
}
