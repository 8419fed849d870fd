// SPDX-License-Identifier: BSD-3-Clause
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "config/options.h"
#include "config/parse.h"
#include "environment.h"

static void print_string(const char* key, const char* text, const char* end) {
  printf("\"%s\": \"", key);
  for (; *text != '\0'; ++text) {
    const unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') {
      printf("\\%c", c);
    } else if (c < 0x20) {
      printf("\\u%04x", c);
    } else {
      putchar(c);
    }
  }
  printf("\"%s", end);
}

// A table as a JSON array with a row in each line: open_row(i), its fields, and at the end
// close_rows().
static void open_row(size_t i) { fputs(i == 0 ? "[\n  {" : "},\n  {", stdout); }
static void close_rows(void) { puts("}\n]"); }

int command_options(void) {
  for (size_t i = 0; i < sumac_num_options; ++i) {
    const struct sumac_option_row* row = &sumac_option_rows[i];
    open_row(i);
    print_string("name", row->name, ", ");
    print_string("kind", row->kind, ", ");
    print_string("default", row->def, ", ");
    print_string("choices", row->choices, ", ");
    printf("\"agreed\": %s, ", row->agreed ? "true" : "false");
    print_string("doc", row->doc, "");
  }
  close_rows();
  return 0;
}

int print_settings(const struct sumac_site* site) {
  for (size_t i = 0; i < sumac_num_options; ++i) {
    const struct sumac_option_row* row = &sumac_option_rows[i];
    struct sumac_setting setting = setting_of(site, row->name);
    struct sumac_value value;
    // The library warns of a value that is none, and takes the default.
    if (setting.text != NULL && sumac_parse_value(row, setting.text, &value) != 0) {
      setting = (struct sumac_setting){NULL, NULL};
    }
    const struct sumac_site_entry* lock = sumac_site_lock(site, row->name);
    char source[PATH_MAX] = "default";
    if (setting.text != NULL) snprintf(source, sizeof source, "environment");
    if (setting.entry != NULL) {
      snprintf(source, sizeof source, "%s:%d", setting.entry->file, setting.entry->line);
    }
    open_row(i);
    print_string("name", row->name, ", ");
    print_string("value", setting.text != NULL ? setting.text : row->def, ", ");
    print_string("source", source, ", ");
    printf("\"locked\": %s", lock != NULL ? "true" : "false");
  }
  close_rows();
  return 0;
}

int command_calls(void) {
#define SUMAC_CALL(name) puts("MPI_" #name);
#include "interpose/calls.def"
#undef SUMAC_CALL
  return 0;
}

static void print_fact(const char* key, int fact, const char* end) {
  printf("\"%s\": %s%s", key, fact ? "true" : "false", end);
}

int command_collectives(void) {
  static const struct {
    const char *name, *mpi;
    int root, sized, reduces, simulated;
    const char *result, *divided, *ranks;
  } rows[] = {
#define SUMAC_COLLECTIVE(name, mpi, root, result, sized, reduces, divided, arguments, simulated, \
                         ranks)                                                                  \
  {#name, mpi, root, sized, reduces, simulated, #result, #divided, #ranks},
#include "base/collectives.def"
#undef SUMAC_COLLECTIVE
  };
  const size_t count = sizeof rows / sizeof rows[0];
  for (size_t i = 0; i < count; ++i) {
    open_row(i);
    print_string("name", rows[i].name, ", ");
    print_string("mpi", rows[i].mpi, ", ");
    print_fact("root", rows[i].root, ", ");
    print_fact("sized", rows[i].sized, ", ");
    print_fact("reduces", rows[i].reduces, ", ");
    print_fact("simulated", rows[i].simulated, ", ");
    print_string("result", rows[i].result, ", ");
    print_string("divided", rows[i].divided, ", ");
    print_string("ranks", rows[i].ranks, "");
  }
  close_rows();
  return 0;
}

int command_functions(void) {
  static const struct {
    const char *name, *collective, *arguments;
  } rows[] = {
#define SUMAC_CALL(name)
#define SUMAC_FUNCTION(function, collective, arguments) {#function, #collective, arguments},
#define SUMAC_COUNTED_FUNCTION(function, arguments, size) {#function, "", arguments},
#include "interpose/calls.def"
#undef SUMAC_CALL
  };
  const size_t count = sizeof rows / sizeof rows[0];
  for (size_t i = 0; i < count; ++i) {
    open_row(i);
    print_string("name", rows[i].name, ", ");
    print_string("collective", rows[i].collective, ", ");
    print_fact("lists", strchr(rows[i].arguments, 'C') != NULL, "");
  }
  close_rows();
  return 0;
}

int command_layouts(void) {
  static const char* const rows[][2] = {
#define SUMAC_LAYOUT(name, what, made) {#name, what},
#include "bench/pack_layouts.def"
#undef SUMAC_LAYOUT
  };
  const size_t count = sizeof rows / sizeof rows[0];
  for (size_t i = 0; i < count; ++i) {
    open_row(i);
    print_string("name", rows[i][0], ", ");
    print_string("doc", rows[i][1], "");
  }
  close_rows();
  return 0;
}

int command_distances(void) {
  static const struct {
    const char *name, *doc;
    unsigned most_ns;
  } rows[] = {
#define SUMAC_DISTANCE(name, most_ns, doc) {#name, doc, most_ns},
#include "base/distances.def"
#undef SUMAC_DISTANCE
  };
  const size_t count = sizeof rows / sizeof rows[0];
  for (size_t i = 0; i < count; ++i) {
    open_row(i);
    print_string("name", rows[i].name, ", ");
    printf("\"most_ns\": %u, ", rows[i].most_ns);
    print_string("doc", rows[i].doc, "");
  }
  close_rows();
  return 0;
}

int command_algorithms(void) {
  static const struct {
    const char *collective, *name, *needs, *order, *description, *unruled;
  } rows[] = {
#define SUMAC_ALGORITHM(collective, name, needs, order, tuned, early, description, unruled) \
  {#collective, #name, #needs, #order, description, unruled},
#include "base/algorithms.def"
#undef SUMAC_ALGORITHM
  };
  const size_t count = sizeof rows / sizeof rows[0];
  for (size_t i = 0; i < count; ++i) {
    open_row(i);
    print_string("collective", rows[i].collective, ", ");
    print_string("name", rows[i].name, ", ");
    print_string("needs", rows[i].needs, ", ");
    print_string("order", rows[i].order, ", ");
    print_string("doc", rows[i].description, ", ");
    print_string("unruled", rows[i].unruled, "");
  }
  close_rows();
  return 0;
}
