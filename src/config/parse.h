// SPDX-License-Identifier: BSD-3-Clause
// Text -> value, and the nearest known name: for options, and for the rules' file.
#pragma once

#include <stdint.h>

#include "config/options.h"

#ifdef __cplusplus
extern "C" {
#endif

// A value of any kind; text is set where the field is a string.
struct sumac_value {
  uint64_t number;
  const char* text;
};

// Parses `text` as the row's kind asks. Returns 0, or -1 (value untouched) when it is not such a
// value.
int sumac_parse_value(const struct sumac_option_row* row, const char* text,
                      struct sumac_value* value);

// Parses decimal digits and nothing else. Returns 0, or -1.
int sumac_parse_number(const char* text, uint64_t* number);

// Whether the kind's field is a string.
int sumac_is_string(const struct sumac_option_row* row);

// Whether a text says that it is a file or folder: it contains a . or a /. Words do not, so a
// misspelt one never becomes a file.
int sumac_is_path(const char* text);

// Where the choices "lo..hi" of a count lie.
void sumac_count_range(const struct sumac_option_row* row, uint64_t* low, uint64_t* high);

// The one of `count` known names most like `name` (of `length` characters), or NULL when none is
// near.
const char* sumac_nearest(const char* name, size_t length, const char* const* known, size_t count);

// The option name most like `name` (of `length` characters), or NULL when none is near.
const char* sumac_nearest_option(const char* name, size_t length);

#ifdef __cplusplus
}
#endif
