// SPDX-License-Identifier: BSD-3-Clause
// The commands that are part of this program; argv[0] is the command's name. Each returns an exit
// code, or does not return.
#pragma once

struct sumac_site;

int command_exec(int argc, char** argv);
int command_options(void);  // the table of options, as JSON
int print_settings(const struct sumac_site* site);
int command_calls(void);  // the names of the intercepted functions

// sumac __algorithms: the table of algorithms.
int command_algorithms(void);
int command_collectives(void);  // the table of collectives, as JSON
int command_functions(void);    // the table of the collectives' functions, as JSON
int command_types(void);        // the table of element types, as JSON (types.cc)
int command_distances(void);    // the table of distances, as JSON
int command_lines(void);    // the times of a line between this machine's processors (processors.cc)
int command_copies(void);   // the times of copies between two processors (processors.cc)
int command_layouts(void);  // the layouts of 'sumac bench pack', as JSON
int command_plan(char** argv);
int command_version(void);
int command_check_env(void);             // 0, or 2 after printing errors in SUMAC_*
int command_check_set(char** settings);  // the same for NAME=VALUE of a command line
int command_disabled(void);  // 0 when SUMAC_DISABLE or a site switches Sumac off, else 1
int command_settings(void);  // what each option is set to, and by whom, as JSON

// Runs all other commands, which are in the Python package. argv is the whole command line.
int command_python(int argc, char** argv);
