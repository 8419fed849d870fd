// SPDX-License-Identifier: BSD-3-Clause
// The options of Sumac are read from SUMAC_* environment variables and from a site's files. The
// file is in C for the command and the library.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sumac_debug_level { SUMAC_DEBUG_OFF, SUMAC_DEBUG_WARN, SUMAC_DEBUG_INFO, SUMAC_DEBUG_TRACE };

// The struct has one field for each row of options.def, hooks of tests included. flag, choice
// (index), count and bytes are numbers; so is limit, 0 for auto and 1 for off. text, path ("" for
// none) and report are strings; colls is a bit mask over the row's choices in order.
struct sumac_options {
#define SUMAC_OPTION_TYPE_flag uint64_t
#define SUMAC_OPTION_TYPE_choice uint64_t
#define SUMAC_OPTION_TYPE_count uint64_t
#define SUMAC_OPTION_TYPE_bytes uint64_t
#define SUMAC_OPTION_TYPE_colls uint64_t
#define SUMAC_OPTION_TYPE_limit uint64_t
#define SUMAC_OPTION_TYPE_text const char*
#define SUMAC_OPTION_TYPE_path const char*
#define SUMAC_OPTION_TYPE_report const char*
#define SUMAC_OPTION(NAME, field, kind, def, choices, agreed, doc) SUMAC_OPTION_TYPE_##kind field;
#include "config/options.def"
#undef SUMAC_OPTION
};

// A row as data, which help and docs read.
struct sumac_option_row {
  const char *name, *kind, *def, *choices, *doc;
  int agreed;
};
// The rows are those of the options, and behind them those of the hooks of tests.
extern const struct sumac_option_row sumac_option_rows[];
extern const size_t sumac_num_options, sumac_num_options_and_hooks;

// A problem says what is wrong with a variable or a line of a site's file: the slug ("bad-value",
// "unknown-option", "locked-option", "site-file"), the problem, the fix, and what the library does
// instead.
struct sumac_problem {
  const char *slug, *what, *fix, *instead;
};
typedef void (*sumac_problem_fn)(void* context, const struct sumac_problem* problem);

struct sumac_site;  // see site.h

// A parsed value of kind report.
struct sumac_report {
  int wanted, all_ranks;
  const char* file;  // NULL: standard error
};
// Returns 0, or -1 if the text is not such a value.
int sumac_parse_report(const char* text, struct sumac_report* report);

// A parsed value of SUMAC_CHECK.
struct sumac_check {
  int calls;
  uint64_t results;    // one call in so many is checked; 0: none
  int ends;            // the job ends after a result that differs
  const char* folder;  // data of the first such call are kept here; "": nowhere
};
// Returns 0, or -1 if the text is not such a value.
int sumac_parse_check(const char* text, struct sumac_check* check);

// Fills `options` from defaults, `site` (or NULL) and `environment` (NULL-terminated "NAME=value"
// strings); text points into the two. An empty value counts as unset, and so does a bad one, which
// is reported; unknown SUMAC_* names are reported with the nearest known one. Returns the number of
// problems. Names SUMAC_ROOT, SUMAC_ACTIVE and SUMAC_TEST_* are no options.
int sumac_options_read(struct sumac_options* options, char* const* environment,
                       const struct sumac_site* site, sumac_problem_fn problem, void* context);

// Parses "64", "64K", "1M", "2G" (powers of 1024). Returns 0, or -1 if the text is not such a
// number.
int sumac_parse_bytes(const char* text, uint64_t* bytes);

// Resets an option of kind text to its default, since its value has turned out to be bad, and says
// so. `site` is what the options were read from.
void sumac_options_refuse(struct sumac_options* options, const struct sumac_site* site,
                          const char* name, const char* why, const char* fix,
                          sumac_problem_fn problem, void* context);

// Returns an FNV-1a hash over the values of all agreed options. It is equal on two ranks if all
// values are.
uint64_t sumac_options_hash(const struct sumac_options* options);

// Writes the agreed options that differ from their defaults as "NAME=value NAME=value", cut off at
// `size`. Messages that say how two ranks differ show this text.
void sumac_options_text(const struct sumac_options* options, char* text, size_t size);

#ifdef __cplusplus
}
#endif
