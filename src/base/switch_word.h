// SPDX-License-Identifier: BSD-3-Clause
// The names of yes and no are accepted in any case. The file is in C because the stub and the
// command read switches too.
#pragma once

#include <stddef.h>
#include <strings.h>

// Returns 1 for a name of yes, 0 for a name of no, -1 for any other text.
static inline int sumac_switch_word(const char* text) {
  static const char* const names[2][5] = {{"0", "no", "off", "false", "n"},
                                          {"1", "yes", "on", "true", "y"}};
  for (int yes = 0; yes < 2; ++yes) {
    for (size_t i = 0; i < sizeof names[yes] / sizeof names[yes][0]; ++i) {
      if (strcasecmp(text, names[yes][i]) == 0) return yes;
    }
  }
  return -1;
}
