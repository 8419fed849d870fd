// SPDX-License-Identifier: BSD-3-Clause
// Numbers with a point, whatever locale the program has chosen: by that of many countries, printf()
// would write a comma, and the text would be no JSON.
#pragma once

#include <locale.h>
#include <stddef.h>

// Returns the thread's locale, for uselocale(). The C library has the C locale as a constant.
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
