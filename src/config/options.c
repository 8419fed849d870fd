// SPDX-License-Identifier: BSD-3-Clause
#include "config/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/nearest.h"
#include "config/parse.h"
#include "config/site.h"

static const char with_bar[] =
#define SUMAC_COLLECTIVE(name, mpi, root, result, sized, reduces, divided, arguments, simulated, \
                         ranks)                                                                  \
  "|" #name
#include "base/collectives.def"
#undef SUMAC_COLLECTIVE
    ;
#define collective_choices (with_bar + 1)

const struct sumac_option_row sumac_option_rows[] = {
#define SUMAC_OPTION(NAME, field, kind, def, choices, agreed, doc) \
  {#NAME, #kind, def, choices, doc, agreed},
#include "config/options.def"
#undef SUMAC_OPTION
};
const size_t sumac_num_options_and_hooks = sizeof sumac_option_rows / sizeof sumac_option_rows[0];
const size_t sumac_num_options = 0
#define SUMAC_OPTION(NAME, field, kind, def, choices, agreed, doc) +1
#define SUMAC_TEST_HOOK(NAME, field, kind, def, choices, agreed, doc)
#include "config/options.def"
#undef SUMAC_OPTION
    ;

// Each entry is the offset of a row's field in struct sumac_options.
static const size_t offsets[] = {
#define SUMAC_OPTION(NAME, field, kind, def, choices, agreed, doc) \
  offsetof(struct sumac_options, field),
#include "config/options.def"
#undef SUMAC_OPTION
};

static const char kPrefix[] = "SUMAC_";
enum { kPrefixLength = sizeof kPrefix - 1, kMessage = 512 };

struct reporter {
  sumac_problem_fn problem;
  void* context;
};

static void report(const struct reporter* to, const char* slug, const char* what, const char* fix,
                   const char* instead) {
  const struct sumac_problem problem = {slug, what, fix, instead};
  if (to->problem != NULL) to->problem(to->context, &problem);
}

static bool is_text(size_t row) { return sumac_is_string(&sumac_option_rows[row]); }

static void store(struct sumac_options* options, size_t row, const struct sumac_value* value) {
  char* field = (char*)options + offsets[row];
  if (is_text(row)) {
    memcpy(field, &value->text, sizeof value->text);
  } else {
    memcpy(field, &value->number, sizeof value->number);
  }
}

// Returns the value of SUMAC_<name>, as getenv would return it. An empty value counts as unset.
static const char* value_of(char* const* environment, const char* name) {
  const size_t length = strlen(name);
  for (; environment != NULL && *environment != NULL; ++environment) {
    const char* entry = *environment;
    if (strncmp(entry, kPrefix, kPrefixLength) != 0) continue;
    entry += kPrefixLength;
    if (strncmp(entry, name, length) == 0 && entry[length] == '=') {
      return entry[length + 1] != '\0' ? entry + length + 1 : NULL;
    }
  }
  return NULL;
}

// Turns "a|b|c" into "a, b, c".
static const char* listed(const char* choices, char* buffer, size_t size) {
  size_t used = 0;
  for (; *choices != '\0' && used + 3 < size; ++choices) {
    if (*choices == '|') {
      buffer[used++] = ',';
      buffer[used++] = ' ';
    } else {
      buffer[used++] = *choices;
    }
  }
  buffer[used] = '\0';
  return buffer;
}

// Describes the values of an option's kind, such as "one of auto, off".
static void describe_domain(const struct sumac_option_row* row, char* domain, size_t size) {
  char list[256];
  uint64_t low, high;
  sumac_count_range(row, &low, &high);
  const unsigned long long least = low, most = high;
  if (strcmp(row->kind, "count") == 0) {
    snprintf(domain, size, "a whole number from %llu to %llu", least, most);
  } else if (strcmp(row->kind, "limit") == 0) {
    snprintf(domain, size, "auto, off or a whole number from %llu to %llu", least, most);
  } else if (strcmp(row->kind, "bytes") == 0) {
    snprintf(domain, size, "a size such as 65536, 64K, 1M or 2G%s%s",
             row->choices[0] != '\0' ? ", " : "", row->choices);
  } else if (strcmp(row->kind, "flag") == 0) {
    snprintf(domain, size, "yes or no");
  } else if (strcmp(row->kind, "path") == 0) {
    snprintf(domain, size, "the name of a file or folder (./NAME for one that is called so)");
  } else if (strcmp(row->kind, "report") == 0) {
    snprintf(domain, size,
             "yes, no, all, or the name of a file, which contains a . or a / (./NAME)");
  } else if (strcmp(row->kind, "colls") == 0) {
    snprintf(domain, size, "'all', or a comma list (^ leaves one out) of %s",
             listed(row->choices, list, sizeof list));
  } else {
    snprintf(domain, size, "one of %s", listed(row->choices, list, sizeof list));
  }
}

static void report_bad_value(const struct sumac_option_row* row, const char* what, const char* fix,
                             const struct reporter* to) {
  char instead[160] = "it is ignored";
  if (row->def[0] != '\0') snprintf(instead, sizeof instead, "using the default, %s", row->def);
  report(to, "bad-value", what, fix, instead);
}

static void refuse_value(const struct sumac_option_row* row, const char* text,
                         const struct reporter* to) {
  char domain[320], what[kMessage], fix[kMessage];
  describe_domain(row, domain, sizeof domain);
  snprintf(what, sizeof what, "%s%s=%.80s is not %s", kPrefix, row->name, text, domain);
  snprintf(fix, sizeof fix, "unset it (the default is '%s'), or choose %s", row->def, domain);
  report_bad_value(row, what, fix, to);
}

// Reports what is wrong with a line of a site's file.
static void report_line(const struct sumac_site_entry* entry, const char* what, const char* fix,
                        const struct reporter* to) {
  char text[kMessage], number[16] = "", instead[kMessage];
  if (entry->line > 0) snprintf(number, sizeof number, ":%d", entry->line);
  snprintf(text, sizeof text, "%.160s%s: %.300s", entry->file, number, what);
  snprintf(instead, sizeof instead, "it is ignored\n  fix:   %.400s", fix);
  report(to, "site-file", text, fix, instead);
}

// Returns the name (without its prefix) of an environment entry that looks like an option, or NULL.
static const char* option_like(const char* entry, size_t* length) {
  if (strncmp(entry, kPrefix, kPrefixLength) != 0) return NULL;
  const char* name = entry + kPrefixLength;
  *length = strcspn(name, "=");
  if (strncmp(name, "TEST_", 5) == 0) return NULL;
  if (*length == 4 && strncmp(name, "ROOT", 4) == 0) return NULL;
  if (*length == 6 && strncmp(name, "ACTIVE", 6) == 0) return NULL;
  return name;
}

static bool is_option(const char* name, size_t length) {
  for (size_t i = 0; i < sumac_num_options_and_hooks; ++i) {
    const char* known = sumac_option_rows[i].name;
    if (strlen(known) == length && strncmp(known, name, length) == 0) return true;
  }
  return false;
}

static const char* nearest_option(const char* name, size_t length) {
  static const char* const names[] = {
#define SUMAC_OPTION(NAME, field, kind, def, choices, agreed, doc) #NAME,
#include "config/options.def"
#undef SUMAC_OPTION
  };
  return sumac_nearest(name, length, names, sizeof names / sizeof names[0]);
}

// Returns what to set in place of a former option, or NULL.
static const char* moved_to(const char* name, size_t length) {
  static const char* const moved[][2] = {
#define SUMAC_OPTION(NAME, field, kind, def, choices, agreed, doc)
#define SUMAC_MOVED_OPTION(NAME, instead) {#NAME, instead},
#include "config/options.def"
#undef SUMAC_OPTION
  };
  for (size_t i = 0; i < sizeof moved / sizeof moved[0]; ++i) {
    if (strlen(moved[i][0]) == length && strncmp(moved[i][0], name, length) == 0) {
      return moved[i][1];
    }
  }
  return NULL;
}

// Writes what to do about a name that is no option.
static void repair_name(const char* name, size_t length, char* fix, size_t size) {
  const char* const instead = moved_to(name, length);
  const char* const nearest = nearest_option(name, length);
  if (instead != NULL) {
    snprintf(fix, size, "use %s", instead);
  } else if (nearest != NULL) {
    snprintf(fix, size, "did you mean %s%s?", kPrefix, nearest);
  } else {
    snprintf(fix, size, "leave it out; 'sumac info options' lists the options there are");
  }
}

static void report_unknown(const char* name, size_t length, const struct reporter* to) {
  char what[kMessage], fix[kMessage];
  snprintf(what, sizeof what, "%s%.*s is not an option", kPrefix, (int)(length < 80 ? length : 80),
           name);
  repair_name(name, length, fix, sizeof fix);
  report(to, "unknown-option", what, fix, fix);
}

struct line_reading {
  const struct sumac_site_entry* entry;
  const struct reporter* to;
  int problems;
};

static void check_name(void* context, const char* name) {
  struct line_reading* reading = context;
  const size_t length = strlen(name);
  char what[kMessage], fix[kMessage];
  if (is_option(name, length)) return;
  snprintf(what, sizeof what, "%s is not an option", name);
  repair_name(name, length, fix, sizeof fix);
  report_line(reading->entry, what, fix, reading->to);
  ++reading->problems;
}

static void check_value(struct line_reading* reading) {
  const struct sumac_site_entry* entry = reading->entry;
  for (size_t i = 0; i < sumac_num_options_and_hooks; ++i) {
    const struct sumac_option_row* row = &sumac_option_rows[i];
    char domain[320], what[kMessage], fix[kMessage];
    struct sumac_value value;
    if (strcmp(row->name, entry->name) != 0 || entry->value[0] == '\0') continue;
    if (sumac_parse_value(row, entry->value, &value) == 0) return;
    describe_domain(row, domain, sizeof domain);
    snprintf(what, sizeof what, "%s=%.80s is not %s", row->name, entry->value, domain);
    snprintf(fix, sizeof fix, "choose %s", domain);
    report_line(entry, what, fix, reading->to);
    ++reading->problems;
  }
}

// Reports the lines of a site's files that are wrong, and returns their number.
static int check_site(const struct sumac_site* site, const struct reporter* to) {
  struct line_reading reading = {NULL, to, 0};
  for (size_t i = 0; site != NULL && i < site->count; ++i) {
    const struct sumac_site_entry* entry = reading.entry = &site->entries[i];
    if (entry->name == NULL) {
      report_line(entry, entry->value, "correct it; docs/admin.md shows the form of the file", to);
      ++reading.problems;
    } else if (strcmp(entry->name, "LOCKED") == 0) {
      sumac_site_locked(entry, check_name, &reading);
    } else {
      check_name(&reading, entry->name);
      check_value(&reading);
    }
  }
  return reading.problems;
}

static bool is_same(size_t row, const struct sumac_value* a, const struct sumac_value* b) {
  return is_text(row) ? strcmp(a->text, b->text) == 0 : a->number == b->number;
}

static void report_locked(const struct sumac_option_row* row, const char* own,
                          const struct sumac_setting* setting, const struct sumac_site_entry* lock,
                          const struct reporter* to) {
  char what[kMessage], fix[64], instead[kMessage];
  if (lock == NULL) lock = setting->entry;  // it switches Sumac off
  snprintf(what, sizeof what, "%s%s=%.80s: the site has fixed this option (%.160s:%d)", kPrefix,
           row->name, own, lock->file, lock->line);
  snprintf(fix, sizeof fix, "unset %s%s", kPrefix, row->name);
  snprintf(instead, sizeof instead, "using the site's value, %.80s",
           setting->text != NULL ? setting->text : row->def);
  report(to, "locked-option", what, fix, instead);
}

// Reads one option. Returns the number of problems with the user's value.
static int read_row(struct sumac_options* options, size_t i, const char* own,
                    const struct sumac_site* site, const struct reporter* to) {
  const struct sumac_option_row* row = &sumac_option_rows[i];
  const struct sumac_setting setting = sumac_site_setting(site, row->name, own);
  const bool is_own = setting.text != NULL && setting.entry == NULL;
  struct sumac_value value = {0, NULL}, wish;
  int problems = 0;
  sumac_parse_value(row, row->def, &value);
  const struct sumac_setting others = sumac_site_setting(site, row->name, NULL);
  if (others.text != NULL) sumac_parse_value(row, others.text, &value);
  if (own != NULL && sumac_parse_value(row, own, &wish) != 0) {
    refuse_value(row, own, to);
    ++problems;
  } else if (is_own) {
    value = wish;
  } else if (own != NULL && !is_same(i, &value, &wish)) {
    report_locked(row, own, &setting, sumac_site_lock(site, row->name), to);
    ++problems;
  }
  store(options, i, &value);
  return problems;
}

int sumac_options_read(struct sumac_options* options, char* const* environment,
                       const struct sumac_site* site, sumac_problem_fn problem, void* context) {
  const struct reporter to = {problem, context};
  int problems = check_site(site, &to);
  for (size_t i = 0; i < sumac_num_options_and_hooks; ++i) {
    const char* own = value_of(environment, sumac_option_rows[i].name);
    problems += read_row(options, i, own, site, &to);
  }
  for (; environment != NULL && *environment != NULL; ++environment) {
    size_t length;
    const char* name = option_like(*environment, &length);
    if (name == NULL || is_option(name, length)) continue;
    report_unknown(name, length, &to);
    ++problems;
  }
  return problems;
}

static const struct sumac_site_entry* entry_of(const struct sumac_site* site, const char* text) {
  for (size_t i = 0; site != NULL && i < site->count; ++i) {
    if (site->entries[i].value == text) return &site->entries[i];
  }
  return NULL;
}

void sumac_options_refuse(struct sumac_options* options, const struct sumac_site* site,
                          const char* name, const char* why, const char* fix,
                          sumac_problem_fn problem, void* context) {
  const struct reporter to = {problem, context};
  for (size_t i = 0; i < sumac_num_options_and_hooks; ++i) {
    const struct sumac_option_row* row = &sumac_option_rows[i];
    if (strcmp(row->name, name) != 0) continue;
    const char* text;
    char what[kMessage];
    memcpy(&text, (char*)options + offsets[i], sizeof text);
    const struct sumac_site_entry* entry = entry_of(site, text);
    snprintf(what, sizeof what, "%s%s=%.80s: %.300s", entry != NULL ? "" : kPrefix, name, text,
             why);
    struct sumac_value value = {0, NULL};
    sumac_parse_value(row, row->def, &value);
    store(options, i, &value);
    if (entry != NULL) {
      report_line(entry, what, "correct the value", &to);
    } else {
      report_bad_value(row, what, fix, &to);
    }
  }
}

uint64_t sumac_options_hash(const struct sumac_options* options) {
  uint64_t hash = SUMAC_HASH_START;
  for (size_t i = 0; i < sumac_num_options_and_hooks; ++i) {
    if (!sumac_option_rows[i].agreed) continue;
    const char* field = (const char*)options + offsets[i];
    if (is_text(i)) {
      const char* text;
      memcpy(&text, field, sizeof text);
      hash = sumac_hash(text, strlen(text) + 1, hash);
    } else {
      hash = sumac_hash(field, sizeof(uint64_t), hash);
    }
  }
  return hash;
}

// Prints the name of a choice, or a number.
static void print_value(size_t row, uint64_t number, char* text, size_t size) {
  const char* choice = sumac_option_rows[row].choices;
  if (strcmp(sumac_option_rows[row].kind, "choice") != 0) {
    snprintf(text, size, "%llu", (unsigned long long)number);
    return;
  }
  for (; number > 0; --number) choice = strchr(choice, '|') + 1;
  snprintf(text, size, "%.*s", (int)strcspn(choice, "|"), choice);
}

void sumac_options_text(const struct sumac_options* options, char* text, size_t size) {
  struct sumac_options defaults;
  sumac_options_read(&defaults, NULL, NULL, NULL, NULL);
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; i < sumac_num_options_and_hooks && used + 1 < size; ++i) {
    char value[128];
    const char* field = (const char*)options + offsets[i];
    const char* usual = (const char*)&defaults + offsets[i];
    if (!sumac_option_rows[i].agreed) continue;
    if (is_text(i)) {
      const char *own, *other;
      memcpy(&own, field, sizeof own);
      memcpy(&other, usual, sizeof other);
      if (strcmp(own, other) == 0) continue;
      snprintf(value, sizeof value, "%s", own);
    } else {
      uint64_t number;
      if (memcmp(field, usual, sizeof number) == 0) continue;
      memcpy(&number, field, sizeof number);
      print_value(i, number, value, sizeof value);
    }
    const int wrote = snprintf(text + used, size - used, "%s%s=%s", used > 0 ? " " : "",
                               sumac_option_rows[i].name, value);
    used += wrote > 0 ? (size_t)wrote : 0;
  }
}
