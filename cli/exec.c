// SPDX-License-Identifier: BSD-3-Clause
// sumac exec: checks the program and the launcher, sets LD_PRELOAD for this process alone, and
// executes the program in it. Runs once per rank, so it starts no other process.
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/launch.h"
#include "base/nearest.h"
#include "base/switch_word.h"
#include "commands.h"
#include "elf_facts.h"
#include "environment.h"
#include "error.h"
#include "paths.h"

// Whether `path` can be run: 0, or kExitNotFound, or kExitNotExecutable.
static int runnable(const char* path) {
  struct stat status;
  if (stat(path, &status) != 0) return errno == EACCES ? kExitNotExecutable : kExitNotFound;
  return S_ISREG(status.st_mode) && access(path, X_OK) == 0 ? 0 : kExitNotExecutable;
}

// Finds `name` as a shell would. Returns 0 with `path` (of PATH_MAX) set, or the exit code that
// says why it cannot be run: kExitNotFound, kExitNotExecutable.
static int find_program(const char* name, char* path) {
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

// How a file that may not be executed can be run, in `fix` (of PATH_MAX); NULL where it does not
// look like a program. application.py says the same.
static const char* way_to_run(const char* file, char* fix) {
  const size_t length = strlen(file);
  char start[5] = "";
  FILE* const content = fopen(file, "re");
  if (content != NULL) {
    start[fread(start, 1, sizeof start - 1, content)] = '\0';
    fclose(content);
  }
  const int is_python = length > 3 && strcmp(file + length - 3, ".py") == 0;
  const int is_program = strncmp(start, "#!", 2) == 0 || strcmp(start, "\177ELF") == 0;
  snprintf(fix, PATH_MAX, is_python ? "python3 %s" : "chmod +x %s", file);
  return is_python || is_program ? fix : NULL;
}

// Prints why `name` cannot be run; returns `code`.
static int report_program(const char* name, int code) {
  char what[PATH_MAX + 64], here[PATH_MAX], fix[PATH_MAX + 64];
  struct stat status;
  const int in_path = strchr(name, '/') == NULL;
  snprintf(here, sizeof here, "%s%s", in_path ? "./" : "", name);
  const int is_here = *name != '\0' && stat(here, &status) == 0;
  const int is_file = is_here && S_ISREG(status.st_mode);
  if (code == kExitNotFound && in_path && is_file) {
    const int can_run = access(here, X_OK) == 0;
    snprintf(what, sizeof what, "%s was not found in PATH", name);
    snprintf(fix, sizeof fix, "%s names the file in this directory", here);
    report_error("not-found", what, NULL, can_run ? fix : way_to_run(here, fix));
  } else if (code == kExitNotFound) {
    snprintf(what, sizeof what, "%s was not found%s", name, in_path ? " in PATH" : "");
    report_error("not-found", what, NULL, in_path ? "give its path, as in ./program" : NULL);
  } else {
    const int is_directory = !in_path && is_here && S_ISDIR(status.st_mode);
    snprintf(what, sizeof what, "%s is %s", name, is_directory ? "a directory" : "not executable");
    report_error("not-executable", what, in_path ? "looked in PATH" : NULL,
                 !in_path && is_file ? way_to_run(name, fix) : NULL);
  }
  return code;
}

static const char kHelp[] =
    "Usage: sumac exec [OPTIONS] [--] APP [ARGUMENTS]\n"
    "\n"
    "Put Sumac in front of a program, inside a launcher.\n"
    "\n"
    "Examples:\n"
    "  mpiexec -n 4 sumac exec ./app\n"
    "  srun -n 128 sumac exec --set STATS=1 -- ./app input\n"
    "\n"
    "Arguments:\n"
    "  APP [ARGUMENTS]          The program, and its arguments\n"
    "\n"
    "Options:\n"
    "  -x NAME[=VALUE]          Set or pass on a variable\n"
    "  --set NAME=VALUE         Set the option SUMAC_NAME, see 'sumac info options'\n"
    "  -h, --help               Show this help\n"
    "\n"
    "Exit status: the program's own; 2 usage, 3 cannot work here, 125 not started,\n"
    "126 not executable, 127 not found.\n";

enum { kDone = -1000, kSet = 256 };  // kSet: --set, which has no letter

static int usage_error(const char* what) {
  report_error("usage", what, NULL, "'sumac exec --help' shows how");
  return kExitUsage;
}

// What users take for options of this command are mostly the launcher's, such as -n 4.
static int refuse_option(char** argv) {
  static const char* const known[] = {"--set", "--help"};
  char what[256], fix[64], letter[] = {'-', (char)optopt, '\0'};
  const int is_short = optopt > 0 && optopt != 'h' && optopt < kSet;
  const char* const option = is_short ? letter : argv[optind - 1];
  const size_t length = strcspn(option, "=");
  const char* const near = length > 4 ? sumac_nearest(option, length, known, 2) : NULL;
  snprintf(what, sizeof what, "%.80s: there is no such option of sumac exec", option);
  snprintf(fix, sizeof fix, "did you mean %s?", near != NULL ? near : "");
  report_error("usage", what, NULL,
               near != NULL && strncmp(option, near, length) != 0
                   ? fix
                   : "options of the launcher stand before it: mpiexec -n 4 sumac exec ./app");
  return -kExitUsage;
}

static int refuse_setting(int option, const char* setting) {
  char what[256];
  snprintf(what, sizeof what,
           option == 'x' ? "-x %.80s: not NAME=VALUE, and no variable that is set"
                         : "--set %.80s: not NAME=VALUE",
           setting);
  return -usage_error(what);
}

// Applies the options of the command. Returns the index of the program in argv, or minus an exit
// code; kDone when there is nothing left to do.
static int parse_arguments(int argc, char** argv) {
  static const struct option options[] = {
      {"set", required_argument, NULL, kSet}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
  int option;
  while ((option = getopt_long(argc, argv, "+:x:h", options, NULL)) != -1) {
    if (option == 'h') {
      fputs(kHelp, stdout);
      return kDone;
    }
    if (option == '?') return refuse_option(argv);
    if (option == ':') return refuse_setting(optopt, "");
    if (option == kSet && check_setting(optarg) > 0) return -kExitUsage;
    if ((option == 'x' ? apply_variable(optarg) : apply_setting(optarg)) != 0) {
      return refuse_setting(option, optarg);
    }
  }
  return optind;
}

static const char* family_name(const char* family) {
  return strcmp(family, "openmpi") == 0 ? "Open MPI" : "MPICH";
}

// An Open MPI program under MPICH's launcher, or the reverse, would run as so many jobs of one
// rank.
static int check_launcher(const char* program, const struct elf_facts* facts) {
  const char* launcher = sumac_launch_family();
  if (launcher == NULL || facts->family == NULL || strcmp(facts->family, "mpiabi") == 0 ||
      strcmp(facts->family, launcher) == 0) {
    return 0;
  }
  char what[PATH_MAX + 128], found[256], fix[128];
  snprintf(what, sizeof what, "%s needs %s (%s), but %s's launcher started it", program,
           facts->mpi_library, family_name(facts->family), family_name(launcher));
  snprintf(found, sizeof found, "%s is set in the environment", sumac_launch_evidence());
  snprintf(fix, sizeof fix, "start it with the mpiexec of %s", family_name(facts->family));
  report_error("abi-mismatch", what, found, fix);
  return kExitCannotWork;
}

static int check_library(const struct installation* here) {
  char what[PATH_MAX + 64];
  if (here->library[0] != '\0') return 0;
  snprintf(what, sizeof what, "libsumac.so is not under %s", here->root);
  report_error("no-library", what, getenv("SUMAC_ROOT") != NULL ? "SUMAC_ROOT is set" : NULL,
               "install Sumac again, or set SUMAC_ROOT to the prefix that holds lib/libsumac.so");
  return kExitExecFailed;
}

static int prepare(const char* program, const struct installation* here) {
  struct elf_facts facts;
  inspect_executable(program, &facts);
  if (facts.is_elf && (facts.defines_mpi || !facts.is_dynamic)) {
    char what[PATH_MAX + 64];
    snprintf(what, sizeof what, "%s is linked statically%s; running without Sumac", program,
             facts.defines_mpi ? " with its MPI" : "");
    report_warning("static-program", what);
    return 0;
  }
  const int mismatch = check_launcher(program, &facts);
  if (mismatch != 0) return mismatch;
  if (add_preload(here->library) != 0) {
    report_error("bad-path", "LD_PRELOAD cannot hold a path with a space or a colon", here->library,
                 "install Sumac elsewhere, or set SUMAC_ROOT to a link to it");
    return kExitExecFailed;
  }
  return allow_sanitizer() == 0 ? 0 : kExitExecFailed;
}

// The program starts all the same, with a library that leaves all to the MPI and says so to ranks
// on other nodes.
static void warn_if_disabled(const struct installation* here) {
  const struct sumac_setting off = setting_of(read_site(here->library), "DISABLE");
  char what[PATH_MAX + 64];
  if (off.entry == NULL || sumac_switch_word(off.text) != 1) return;
  snprintf(what, sizeof what, "%s:%d switches Sumac off; running without Sumac", off.entry->file,
           off.entry->line);
  report_warning("site-disabled", what);
}

static int run(char** program) {
  struct installation here;
  char path[PATH_MAX];
  int code = find_program(program[0], path);
  if (code != 0) return report_program(program[0], code);
  if (find_installation(&here) != 0) {
    report_error("no-proc", "/proc/self/exe cannot be read", NULL,
                 "mount /proc, or name sumac by its path");
    return kExitExecFailed;
  }
  code = check_library(&here);
  if (code == 0) code = prepare(path, &here);
  if (code == 0) warn_if_disabled(&here);
  if (code != 0) return code;
  execvp(path, program);
  char what[PATH_MAX + 64];
  snprintf(what, sizeof what, "%s cannot be started: %s", program[0], strerror(errno));
  report_error("not-executable", what,
               errno == ENOENT ? "the interpreter or loader that the file names is missing" : NULL,
               NULL);
  return kExitNotExecutable;
}

// Does not check SUMAC_* variables beside those of --set: the library does, with one warning per
// job.
int command_exec(int argc, char** argv) {
  const int first = parse_arguments(argc, argv);
  if (first < 0) return first == kDone ? 0 : -first;
  if (first >= argc) return usage_error("APP is missing");
  return run(argv + first);
}

// The site's files, as the library of this installation reads them.
static const struct sumac_site* site_here(void) {
  struct installation here;
  return read_site(find_installation(&here) == 0 ? here.library : "");
}

int command_disabled(void) {
  const struct sumac_setting off = setting_of(site_here(), "DISABLE");
  if (off.text == NULL || sumac_switch_word(off.text) != 1) return 1;
  if (off.entry != NULL) printf("%s:%d\n", off.entry->file, off.entry->line);
  return 0;
}

int command_check_env(void) { return check_environment(site_here()) > 0 ? kExitUsage : 0; }

int command_check_set(char** settings) {
  int problems = 0;
  for (; *settings != NULL; ++settings) {
    const int found = check_setting(*settings);
    if (found < 0) refuse_setting(kSet, *settings);
    problems += found != 0;
  }
  return problems > 0 ? kExitUsage : 0;
}

int command_settings(void) { return print_settings(site_here()); }
