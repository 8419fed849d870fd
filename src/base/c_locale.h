// SPDX-License-Identifier: BSD-3-Clause
// Sumac writes and reads numbers with a decimal point, whatever locale the program has chosen. In
// the locale of many countries printf() would write a comma, and the text would not be JSON.
#pragma once

#include <locale.h>
#include <stddef.h>

// Gives this thread the C locale, and returns the one it had, for uselocale(). The C library has
// the C locale as a constant, so nothing needs to be freed.
static inline locale_t sumac_use_c_locale(void) {
  return uselocale(newlocale(LC_ALL_MASK, "C", NULL));
}

#ifdef __cplusplus
namespace sumac {

// This thread reads and writes numbers in the C locale until the end of the block.
class InCLocale {
 public:
  InCLocale() : before_(sumac_use_c_locale()) {}
  ~InCLocale() { uselocale(before_); }
  InCLocale(const InCLocale&) = delete;
  InCLocale& operator=(const InCLocale&) = delete;

 private:
  locale_t before_;
};

}  // namespace sumac
#endif
