// SPDX-License-Identifier: BSD-3-Clause
// These functions turn text into values, for options and for files of rules.
#pragma once

#include <stdint.h>

#include "config/options.h"

#ifdef __cplusplus
extern "C" {
#endif

// The value may be of any kind; `text` is set if the field is a string.
struct sumac_value {
  uint64_t number;
  const char* text;
};

// Parses `text` as the row's kind asks. Returns 0, or -1 (value untouched) if it is not such a
// value.
int sumac_parse_value(const struct sumac_option_row* row, const char* text,
                      struct sumac_value* value);

// Parses decimal digits and nothing else. Returns 0, or -1.
int sumac_parse_number(const char* text, uint64_t* number);

// Returns true if the kind's field is a string.
int sumac_is_string(const struct sumac_option_row* row);

// Returns true if a text is meant as a file or folder: it contains a . or a /. Plain words do not
// count, so a misspelt word never becomes a file.
int sumac_is_path(const char* text);

// Reads the bounds of a count's choices "lo..hi".
void sumac_count_range(const struct sumac_option_row* row, uint64_t* low, uint64_t* high);

#ifdef __cplusplus
}
#endif
