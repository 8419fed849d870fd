// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

namespace sumac {

// An unpredictable word, never 0.
inline std::uint64_t random_word() {
  std::uint64_t word = 0;
  if (getrandom(&word, sizeof word, 0) != sizeof word) {
    timespec t;  // getrandom is refused: unique will have to do
    clock_gettime(CLOCK_MONOTONIC, &t);
    word = static_cast<std::uint64_t>(t.tv_nsec) << 32 ^ static_cast<std::uint64_t>(getpid());
  }
  return word ? word : 1;
}

}  // namespace sumac
