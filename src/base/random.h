// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/random.h>
#include <unistd.h>

#include <cstdint>

#include "base/clock.h"

namespace sumac {

// An unpredictable word, never 0.
inline std::uint64_t random_word() {
  std::uint64_t word = 0;
  if (getrandom(&word, sizeof word, 0) != sizeof word) {
    // getrandom is refused: unique will have to do.
    word = clock_ns() << 32 ^ static_cast<std::uint64_t>(getpid());
  }
  return word ? word : 1;
}

}  // namespace sumac
