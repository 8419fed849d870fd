// SPDX-License-Identifier: BSD-3-Clause
#include "environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/options.h"
#include "error.h"
#include "kernels/simd.h"

static const char kPrefix[] = "SUMAC_";

static const char* without_prefix(const char* name) {
  const size_t length = strlen(kPrefix);
  return strncmp(name, kPrefix, length) == 0 ? name + length : name;
}

int apply_setting(const char* setting) {
  char name[128];
  const char* bare = without_prefix(setting);
  const size_t length = strcspn(bare, "=");
  if (length == 0 || bare[length] != '=' || length + sizeof kPrefix > sizeof name) return -1;
  snprintf(name, sizeof name, "%s%.*s", kPrefix, (int)length, bare);
  return setenv(name, bare + length + 1, 1);
}

int apply_variable(const char* setting) {
  char name[128];
  const size_t length = strcspn(setting, "=");
  if (length == 0 || length >= sizeof name) return -1;
  snprintf(name, sizeof name, "%.*s", (int)length, setting);
  if (setting[length] == '=') return setenv(name, setting + length + 1, 1);
  return getenv(name) != NULL ? 0 : -1;
}

// Whether `what`, which begins with the variable's name, is about this setting.
static int is_about(const char* what, const char* setting) {
  const char* bare = without_prefix(setting);
  const size_t length = strcspn(bare, "=");
  const char* named = without_prefix(what);
  return strncmp(named, bare, length) == 0 && (named[length] == '=' || named[length] == ' ');
}

static void report_problem(void* context, const char* slug, const char* what, const char* fix) {
  const struct settings* settings = context;
  char found[256] = "in the environment";
  for (int i = 0; i < settings->count; ++i) {
    if (is_about(what, settings->items[i])) {
      snprintf(found, sizeof found, "%.200s on the command line", settings->items[i]);
    }
  }
  report_error(slug, what, found, fix);
}

int check_environment(const struct settings* from_command_line) {
  struct sumac_options options;
  void* context = (void*)from_command_line;
  int problems = sumac_options_read(&options, environ, report_problem, context);
  if (!sumac_simd_is_known(options.simd)) {
    char what[160];
    snprintf(what, sizeof what, "SUMAC_SIMD=%.80s is not to be had on this processor",
             options.simd);
    report_problem(context, "bad-value", what, "'sumac info options' lists the names");
    ++problems;
  }
  return problems;
}

static int lists(const char* preloads, const char* library) {
  const size_t length = strlen(library);
  while (*preloads != '\0') {
    const size_t item = strcspn(preloads, ": ");
    if (item == length && strncmp(preloads, library, length) == 0) return 1;
    preloads += item;
    preloads += strspn(preloads, ": ");
  }
  return 0;
}

static int set_joined(const char* variable, const char* left, const char* right) {
  const size_t size = strlen(left) + strlen(right) + 2;
  char* joined = malloc(size);
  if (joined == NULL) return -1;
  snprintf(joined, size, "%s:%s", left, right);
  const int result = setenv(variable, joined, 1);
  free(joined);
  return result;
}

int add_preload(const char* library) {
  const char* preloads = getenv("LD_PRELOAD");
  if (strpbrk(library, ": ") != NULL) return -1;
  if (preloads == NULL || preloads[0] == '\0') return setenv("LD_PRELOAD", library, 1);
  if (lists(preloads, library)) return 0;
  // Behind: a profiling tool in front sees the program's calls, and its PMPI_X calls reach Sumac.
  return set_joined("LD_PRELOAD", preloads, library);
}
