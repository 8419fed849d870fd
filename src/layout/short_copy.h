// SPDX-License-Identifier: BSD-3-Clause
// This is memcpy for blocks that are mostly short, without a call.
#pragma once

#include <cstddef>
#include <cstring>

namespace sumac {

// Copies `half` to twice as many bytes by two copies of `half` bytes, which overlap.
template <std::size_t half>
inline void copy_both_ends(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::byte first[half], last[half];
  __builtin_memcpy(first, from, half);
  __builtin_memcpy(last, from + bytes - half, half);
  __builtin_memcpy(to, first, half);
  __builtin_memcpy(to + bytes - half, last, half);
}

inline void short_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 64) {
    std::memcpy(to, from, bytes);
  } else if (bytes > 32) {
    copy_both_ends<32>(to, from, bytes);
  } else if (bytes > 16) {
    copy_both_ends<16>(to, from, bytes);
  } else if (bytes >= 8) {
    copy_both_ends<8>(to, from, bytes);
  } else if (bytes >= 4) {
    copy_both_ends<4>(to, from, bytes);
  } else if (bytes >= 2) {
    copy_both_ends<2>(to, from, bytes);
  } else if (bytes == 1) {
    *to = *from;
  }
}

}  // namespace sumac
