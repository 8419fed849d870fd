// SPDX-License-Identifier: BSD-3-Clause
#include "config/parse.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/switch_word.h"

int sumac_parse_number(const char* text, uint64_t* number) {
  uint64_t value = 0;
  if (*text == '\0') return -1;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9') return -1;
    const uint64_t digit = (uint64_t)(*text - '0');
    if (value > (UINT64_MAX - digit) / 10) return -1;
    value = value * 10 + digit;
  }
  *number = value;
  return 0;
}

// Returns the power of two that a unit letter stands for, or -1.
static int unit_shift(char unit) {
  switch (unit) {
    case 'K':
    case 'k':
      return 10;
    case 'M':
    case 'm':
      return 20;
    case 'G':
    case 'g':
      return 30;
    default:
      return -1;
  }
}

int sumac_parse_bytes(const char* text, uint64_t* bytes) {
  enum { kMaxDigits = 20 };
  char digits[kMaxDigits + 1];
  const size_t length = strspn(text, "0123456789");
  if (length == 0 || length > kMaxDigits) return -1;
  memcpy(digits, text, length);
  digits[length] = '\0';

  int shift = 0;
  if (text[length] != '\0') {
    shift = unit_shift(text[length]);
    if (shift < 0 || text[length + 1] != '\0') return -1;
  }
  uint64_t number;
  if (sumac_parse_number(digits, &number) != 0 || number > UINT64_MAX >> shift) return -1;
  *bytes = number << shift;
  return 0;
}

// Returns the index of the word (of `length` characters, any case) among words separated by '|', or
// -1.
static int word_index(const char* words, const char* word, size_t length) {
  int index = 0;
  for (const char* start = words;; ++index) {
    const size_t size = strcspn(start, "|");
    if (size == length && strncasecmp(start, word, length) == 0) return index;
    if (start[size] == '\0') return -1;
    start += size + 1;
  }
}

static uint64_t all_words(const char* words) {
  uint64_t mask = 1;
  for (; *words != '\0'; ++words) {
    if (*words == '|') mask = mask << 1 | 1;
  }
  return mask;
}

// Turns "all", "a,b" or "^a,^b" (all but those) into a bit mask over the choices.
static int parse_colls(const char* choices, const char* text, uint64_t* number) {
  uint64_t mask = text[0] == '^' ? all_words(choices) : 0;
  for (const char* item = text;;) {
    const bool leave_out = *item == '^';
    if (leave_out) ++item;
    const size_t length = strcspn(item, ",");
    uint64_t bits = 0;
    if (length == 3 && strncasecmp(item, "all", 3) == 0) {
      bits = all_words(choices);
    } else {
      const int index = word_index(choices, item, length);
      if (index < 0) return -1;
      bits = (uint64_t)1 << index;
    }
    mask = leave_out ? mask & ~bits : mask | bits;
    if (item[length] == '\0') break;
    item += length + 1;
  }
  *number = mask;
  return 0;
}

void sumac_count_range(const struct sumac_option_row* row, uint64_t* low, uint64_t* high) {
  const char* dots = strstr(row->choices, "..");
  char digits[24] = "";
  *low = 0;
  *high = UINT64_MAX;
  if (dots == NULL || (size_t)(dots - row->choices) >= sizeof digits) return;
  memcpy(digits, row->choices, (size_t)(dots - row->choices));
  sumac_parse_number(digits, low);
  sumac_parse_number(dots + 2, high);
}

static int parse_count(const struct sumac_option_row* row, const char* text, uint64_t* number) {
  uint64_t low, high, count;
  sumac_count_range(row, &low, &high);
  if (sumac_parse_number(text, &count) != 0 || count < low || count > high) return -1;
  *number = count;
  return 0;
}

static int choice_index(const char* choices, const char* word) {
  return word_index(choices, word, strlen(word));
}

static int parse_choice(const char* choices, const char* text, uint64_t* number) {
  int index = choice_index(choices, text);
  const int off = choice_index(choices, "off");
  const int word = index < 0 && off >= 0 ? sumac_switch_word(text) : -1;
  if (word == 0) index = off;
  if (word == 1) index = choice_index(choices, "auto");
  if (word == 1 && index < 0) index = choice_index(choices, "info");
  if (index < 0) return -1;
  *number = (uint64_t)index;
  return 0;
}

static int parse_flag(const char* text, uint64_t* number) {
  const int word = sumac_switch_word(text);
  if (word < 0) return -1;
  *number = (uint64_t)word;
  return 0;
}

// Digits are a count. 0, as a name of no, means off.
static int parse_limit(const struct sumac_option_row* row, const char* text, uint64_t* number) {
  if (parse_count(row, text, number) == 0) return 0;
  const int word = sumac_switch_word(text);
  if (word < 0 && strcasecmp(text, "auto") != 0) return -1;
  *number = word == 0 ? 1 : 0;
  return 0;
}

int sumac_is_path(const char* text) { return strpbrk(text, "./") != NULL; }

static int parse_path(const char* text, const char** path) {
  const int word = sumac_switch_word(text);
  if (word == 1) return -1;
  *path = word == 0 ? "" : text;
  return 0;
}

int sumac_parse_report(const char* text, struct sumac_report* report) {
  const struct sumac_report none = {0, 0, NULL};
  const int word = sumac_switch_word(text);
  const int all = strncasecmp(text, "all", 3) == 0 && (text[3] == '\0' || text[3] == ',');
  const char* file = all ? text + 3 + (text[3] == ',') : text;
  const int has_file = word < 0 && (!all || text[3] == ',');
  if (has_file && !sumac_is_path(file)) return -1;
  *report = none;
  report->wanted = word != 0;
  report->all_ranks = all;
  if (has_file) report->file = file;
  return 0;
}

// Parses "calls", "results", "results:1/N" or "end".
static int parse_checked(const char* word, struct sumac_check* check) {
  static const char kResults[] = "results", kOneIn[] = "results:1/";
  if (strcmp(word, "end") == 0) {
    check->ends = 1;
    return 0;
  }
  if (strcmp(word, "calls") == 0) {
    check->calls = 1;
    return 0;
  }
  if (strcmp(word, kResults) == 0) {
    check->results = 1;
    return 0;
  }
  if (strncmp(word, kOneIn, sizeof kOneIn - 1) != 0) return -1;
  const int wrong = sumac_parse_number(word + sizeof kOneIn - 1, &check->results) != 0;
  return wrong || check->results == 0 ? -1 : 0;
}

int sumac_parse_check(const char* text, struct sumac_check* check) {
  static const char kFolder[] = "dir:";
  struct sumac_check read = {0, 0, 0, "."};
  char word[64];
  const int is_switch = sumac_switch_word(text);
  if (is_switch >= 0) {
    read.calls = is_switch;
    read.results = (uint64_t)is_switch;
    *check = read;
    return 0;
  }
  for (size_t length; true; text += length + 1) {
    // The name of a folder takes the rest of the text, commas included.
    if (strncmp(text, kFolder, sizeof kFolder - 1) == 0) {
      if (parse_path(text + sizeof kFolder - 1, &read.folder) != 0) return -1;
      break;
    }
    length = strcspn(text, ",");
    if (length >= sizeof word) return -1;
    memcpy(word, text, length);
    word[length] = '\0';
    if (parse_checked(word, &read) != 0) return -1;
    if (text[length] == '\0') break;
  }
  *check = read;
  return 0;
}

static int parse_report(const char* text, const char** value) {
  struct sumac_report report;
  if (sumac_parse_report(text, &report) != 0) return -1;
  *value = text;
  return 0;
}

static int parse_size(const struct sumac_option_row* row, const char* text, uint64_t* number) {
  uint64_t bytes;
  if (sumac_parse_bytes(text, &bytes) != 0) return -1;
  if (bytes == 0 && strcmp(row->choices, "or 0") != 0) return -1;
  *number = bytes;
  return 0;
}

static int is_kind(const struct sumac_option_row* row, const char* kind) {
  return strcmp(row->kind, kind) == 0;
}

int sumac_is_string(const struct sumac_option_row* row) {
  return is_kind(row, "text") || is_kind(row, "path") || is_kind(row, "report");
}

int sumac_parse_value(const struct sumac_option_row* row, const char* text,
                      struct sumac_value* value) {
  if (is_kind(row, "text")) {
    value->text = text;
    return 0;
  }
  if (is_kind(row, "path")) return parse_path(text, &value->text);
  if (is_kind(row, "report")) return parse_report(text, &value->text);
  if (is_kind(row, "flag")) return parse_flag(text, &value->number);
  if (is_kind(row, "choice")) return parse_choice(row->choices, text, &value->number);
  if (is_kind(row, "count")) return parse_count(row, text, &value->number);
  if (is_kind(row, "limit")) return parse_limit(row, text, &value->number);
  if (is_kind(row, "bytes")) return parse_size(row, text, &value->number);
  return parse_colls(row->choices, text, &value->number);
}
