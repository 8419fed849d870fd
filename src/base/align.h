// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace sumac {

inline constexpr std::size_t kCacheLine = 64;
// Processors prefetch lines in pairs, so data that two writers write stay this far apart.
inline constexpr std::size_t kFalseSharingRange = 128;
inline constexpr std::size_t kPage = 4096;
// A process maps the memory of another one in windows of so many bytes, each as a whole.
inline constexpr std::size_t kPeerWindow = std::size_t{1} << 30;

// Returns the smallest multiple of `unit` that is at least n.
constexpr std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

constexpr std::size_t div_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit; }

}  // namespace sumac
