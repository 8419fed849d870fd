// SPDX-License-Identifier: BSD-3-Clause
#include "environment.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/options.h"
#include "config/site.h"
#include "error.h"
#include "kernels/simd.h"

static const char kPrefix[] = "SUMAC_";

static const char* without_prefix(const char* name) {
  const size_t length = strlen(kPrefix);
  return strncmp(name, kPrefix, length) == 0 ? name + length : name;
}

enum { kVariable = 128 };

// Writes the variable's name of a setting NAME=VALUE. Returns its value, or NULL if it does not
// have this form.
static const char* variable_of(const char* setting, char variable[kVariable]) {
  size_t length = strcspn(setting, "=");
  if (setting[length] != '=' || length >= kVariable) return NULL;
  char name[kVariable];
  for (size_t i = 0; i < length; ++i) name[i] = (char)toupper((unsigned char)setting[i]);
  name[length] = '\0';
  const char* bare = without_prefix(name);
  if (bare[0] == '\0' || strlen(bare) + sizeof kPrefix > kVariable) return NULL;
  snprintf(variable, kVariable, "%s%s", kPrefix, bare);
  return setting + length + 1;
}

int apply_setting(const char* setting) {
  char variable[kVariable];
  const char* value = variable_of(setting, variable);
  return value != NULL ? setenv(variable, value, 1) : -1;
}

int apply_variable(const char* setting) {
  char name[128];
  const size_t length = strcspn(setting, "=");
  if (length == 0 || length >= sizeof name) return -1;
  snprintf(name, sizeof name, "%.*s", (int)length, setting);
  if (setting[length] == '=') return setenv(name, setting + length + 1, 1);
  return getenv(name) != NULL ? 0 : -1;
}

const struct sumac_site* read_site(const char* library) {
  static struct sumac_site site;
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%s", library);
  char* slash = strrchr(folder, '/');
  if (slash != NULL) *slash = '\0';
  sumac_site_read(&site, SUMAC_SITE_FILE, slash != NULL ? folder : NULL);
  return &site;
}

static void add_prefix(char variable[kVariable], const char* name) {
  snprintf(variable, kVariable, "%s%s", kPrefix, name);
}

struct sumac_setting setting_of(const struct sumac_site* site, const char* name) {
  char variable[kVariable];
  add_prefix(variable, name);
  return sumac_site_setting(site, name, getenv(variable));
}

void set_variable(const struct sumac_site* site, const char* name) {
  char variable[kVariable];
  const struct sumac_setting setting = setting_of(site, name);
  add_prefix(variable, name);
  if (setting.entry != NULL) setenv(variable, setting.text, 1);
  if (setting.text == NULL) unsetenv(variable);
}

struct findings {
  const char* place;  // where the options are set
  int problems;
};

// The library warns of what is wrong in a site's files, which the user cannot change.
static void report_problem(void* context, const struct sumac_problem* problem) {
  static const char* const of_site[] = {"site-file", "locked-option"};
  struct findings* findings = context;
  for (size_t i = 0; i < sizeof of_site / sizeof of_site[0]; ++i) {
    if (strcmp(problem->slug, of_site[i]) == 0) return;
  }
  report_error(problem->slug, problem->what, findings->place, problem->fix);
  ++findings->problems;
}

static int check_options(char* const* variables, const struct sumac_site* site, const char* place) {
  struct sumac_options options;
  struct findings findings = {place, 0};
  sumac_options_read(&options, variables, site, report_problem, &findings);
  if (!sumac_simd_is_known(options.simd)) {
    sumac_options_refuse(&options, site, "SIMD", "no instruction set is called so",
                         "'sumac info options' lists the names", report_problem, &findings);
  }
  return findings.problems;
}

int check_environment(const struct sumac_site* site) {
  return check_options(environ, site, "in the environment");
}

int check_setting(const char* setting) {
  char variable[kVariable];
  const char* value = variable_of(setting, variable);
  if (value == NULL) return -1;
  const size_t size = strlen(variable) + strlen(value) + 2;
  char* entry = malloc(size);
  if (entry == NULL) return 0;
  snprintf(entry, size, "%s=%s", variable, value);
  char* const alone[] = {entry, NULL};
  const int problems = check_options(alone, NULL, "--set on the command line");
  free(entry);
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
  // Behind other libraries, so that a profiling tool sees the program's calls and calls Sumac by
  // PMPI_X.
  return set_joined("LD_PRELOAD", preloads, library);
}

int allow_sanitizer(void) {
  static const char kOption[] = "verify_asan_link_order=0";
  const char* options = getenv("ASAN_OPTIONS");
  if (options == NULL || options[0] == '\0') return setenv("ASAN_OPTIONS", kOption, 1);
  if (strstr(options, "verify_asan_link_order") != NULL) return 0;
  return set_joined("ASAN_OPTIONS", kOption, options);
}
