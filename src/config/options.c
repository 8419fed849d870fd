// SPDX-License-Identifier: BSD-3-Clause
#include "config/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/nearest.h"
#include "config/parse.h"

static const char with_bar[] =
#define SUMAC_COLLECTIVE(name, mpi, root, data, sized, reduces, divided, arguments, simulated, \
                         ranks)                                                                \
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

static void report_unknown(const char* name, size_t length, const struct reporter* to) {
  char what[kMessage], fix[kMessage];
  const char* const instead = moved_to(name, length);
  const char* nearest = nearest_option(name, length);
  snprintf(what, sizeof what, "%s%.*s is not an option", kPrefix, (int)(length < 80 ? length : 80),
           name);
  if (instead != NULL) {
    snprintf(fix, sizeof fix, "use %s", instead);
  } else if (nearest != NULL) {
    snprintf(fix, sizeof fix, "did you mean %s%s?", kPrefix, nearest);
  } else {
    snprintf(fix, sizeof fix, "unset it; 'sumac info options' lists the options there are");
  }
  report(to, "unknown-option", what, fix, fix);
}

int sumac_options_read(struct sumac_options* options, char* const* environment,
                       sumac_problem_fn problem, void* context) {
  const struct reporter to = {problem, context};
  int problems = 0;
  for (size_t i = 0; i < sumac_num_options_and_hooks; ++i) {
    const struct sumac_option_row* row = &sumac_option_rows[i];
    const char* text = value_of(environment, row->name);
    struct sumac_value value = {0, NULL};
    sumac_parse_value(row, row->def, &value);
    if (text != NULL && sumac_parse_value(row, text, &value) != 0) {
      refuse_value(row, text, &to);
      ++problems;
    }
    store(options, i, &value);
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

void sumac_options_refuse(struct sumac_options* options, const char* name, const char* why,
                          const char* fix, sumac_problem_fn problem, void* context) {
  const struct reporter to = {problem, context};
  for (size_t i = 0; i < sumac_num_options_and_hooks; ++i) {
    const struct sumac_option_row* row = &sumac_option_rows[i];
    if (strcmp(row->name, name) != 0) continue;
    const char* text;
    char what[kMessage];
    memcpy(&text, (char*)options + offsets[i], sizeof text);
    snprintf(what, sizeof what, "%s%s=%.80s: %.300s", kPrefix, name, text, why);
    struct sumac_value value = {0, NULL};
    sumac_parse_value(row, row->def, &value);
    store(options, i, &value);
    report_bad_value(row, what, fix, &to);
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
  sumac_options_read(&defaults, NULL, NULL, NULL);
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
