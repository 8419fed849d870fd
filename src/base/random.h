// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/random.h>
#include <unistd.h>

#include <cstdint>

#include "base/cpu.h"

namespace sumac {

// Returns an unpredictable word, never 0.
inline std::uint64_t random_word() {
  std::uint64_t word = 0;
  if (getrandom(&word, sizeof word, 0) != sizeof word) {
    // The kernel refuses getrandom, so the word is only unique.
    word = clock_ns() << 32 ^ static_cast<std::uint64_t>(getpid());
  }
  return word ? word : 1;
}

}  // namespace sumac
