// SPDX-License-Identifier: BSD-3-Clause
// Text to value: for options and for files of rules.
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

// True when the kind's field is a string.
int sumac_is_string(const struct sumac_option_row* row);

// True when a text is meant as a file or folder: it contains a . or a /. Plain words are not, so a
// misspelt word never becomes a file.
int sumac_is_path(const char* text);

// Reads the bounds of a count's choices "lo..hi".
void sumac_count_range(const struct sumac_option_row* row, uint64_t* low, uint64_t* high);

#ifdef __cplusplus
}
#endif
