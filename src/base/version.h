// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace sumac {

// Equal on two ranks when they run the same build of the library.
inline std::uint64_t build_hash() {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char* c = SUMAC_VERSION; *c; ++c) {
    hash = (hash ^ static_cast<unsigned char>(*c)) * 0x100000001b3ull;
  }
  return hash;
}

}  // namespace sumac
