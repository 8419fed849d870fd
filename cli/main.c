// SPDX-License-Identifier: BSD-3-Clause
// The sumac command. `exec`, which every rank of a job runs, is in C; commands that are run by hand
// are in Python.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "error.h"

static const char kHelp[] =
    "Usage: sumac COMMAND [ARGUMENTS]\n"
    "\n"
    "Faster collectives for unmodified MPI programs.\n"
    "\n"
    "Examples:\n"
    "  sumac run -n 4 ./app\n"
    "  mpiexec -n 4 sumac exec ./app\n"
    "  sumac check\n"
    "  sumac bench --help\n"
    "\n"
    "Commands:\n"
    "  run                      Start an MPI program with Sumac in front of its MPI\n"
    "  exec                     Put Sumac in front of a program, inside a launcher\n"
    "  info                     Show what is installed, what the machine offers, and\n"
    "                           which options are set\n"
    "  check                    Check that Sumac works here, and say what does not,\n"
    "                           why, and what helps\n"
    "  bench                    Measure a collective with and without Sumac, and\n"
    "                           verify its results\n"
    "  tune                     Measure which algorithm is the fastest here, and\n"
    "                           write rules that say so\n"
    "  plot                     Draw the results of 'sumac bench'\n"
    "  trace                    Run an MPI program, and draw when each level of one\n"
    "                           collective worked\n"
    "  profile                  Run an MPI program; show its collectives, and\n"
    "                           predict their time with Sumac\n"
    "  simulate                 Simulate a collective on a cluster that is not there\n"
    "  doctor                   Show where the ranks of a running job are, who waits,\n"
    "                           in what, and for whom\n"
    "  plan                     Show which algorithms a collective takes, on this\n"
    "                           machine or another\n"
    "  completion               Print a script that makes a shell complete command\n"
    "                           lines of sumac\n"
    "\n"
    "Options:\n"
    "  -V, --version            Show the version\n"
    "  -h, --help               Show this help\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 usage, 3 cannot work here, 4 wrong results, 5\n"
    "slower than asked for, 130 Ctrl-C, 141 closed pipe.\n";

static int print_help(void) {
  fputs(kHelp, stdout);
  return 0;
}

static int is(const char* text, const char* short_name, const char* long_name) {
  return strcmp(text, short_name) == 0 || strcmp(text, long_name) == 0;
}

static int run(int argc, char** argv) {
  // A shell asks how a command line may go on (commands/completion.py). What answers it asks for
  // the tables below, by arguments.
  if (argc < 2 && getenv("_SUMAC_COMPLETE") != NULL) return command_python(argc, argv);
  if (argc > 2 && strcmp(argv[1], "help") == 0) {  // of a command
    argv[1] = argv[2];
    argv[2] = "--help";
    argc = 3;
  }
  if (argc < 2 || is(argv[1], "-h", "--help") || is(argv[1], "help", "--help")) return print_help();
  const char* command = argv[1];
  if (is(command, "-V", "--version")) return command_version();
  if (strcmp(command, "exec") == 0) return command_exec(argc - 1, argv + 1);
  if (strcmp(command, "plan") == 0) return command_plan(argv + 1);
  if (strcmp(command, "__options") == 0) return command_options();
  if (strcmp(command, "__calls") == 0) return command_calls();
  if (strcmp(command, "__algorithms") == 0) return command_algorithms();
  if (strcmp(command, "__collectives") == 0) return command_collectives();
  if (strcmp(command, "__functions") == 0) return command_functions();
  if (strcmp(command, "__types") == 0) return command_types();
  if (strcmp(command, "__distances") == 0) return command_distances();
  if (strcmp(command, "__lines") == 0) return command_lines();
  if (strcmp(command, "__copies") == 0) return command_copies();
  if (strcmp(command, "__layouts") == 0) return command_layouts();
  if (strcmp(command, "__check-env") == 0) return command_check_env();
  if (strcmp(command, "__check-set") == 0) return command_check_set(argv + 2);
  if (strcmp(command, "__disabled") == 0) return command_disabled();
  if (strcmp(command, "__settings") == 0) return command_settings();
  return command_python(argc, argv);
}

int main(int argc, char** argv) { return finish_output(run(argc, argv)); }
