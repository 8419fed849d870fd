// SPDX-License-Identifier: BSD-3-Clause
// FNV-1a: the same number for the same bytes on every machine. Not for untrusted input.
#pragma once

#include <cstdint>
#include <string_view>

namespace sumac {

inline constexpr std::uint64_t kHashStart = 0xcbf29ce484222325ull;

// Goes on with a hash; a new one begins with kHashStart.
constexpr std::uint64_t hash_text(std::string_view text, std::uint64_t hash = kHashStart) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

}  // namespace sumac
