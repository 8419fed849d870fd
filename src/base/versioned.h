// SPDX-License-Identifier: BSD-3-Clause
// Data of one writer that others read at any moment, also from another process: a version beside
// them is odd while they are being written. Nobody waits for anybody; a reader that finds them half
// written reads again.
#pragma once

#include <atomic>
#include <cstdint>

namespace sumac {

// Around all writing of the data. One thread at a time.
inline void begin_writing(std::atomic<std::uint64_t>& version) {
  version.store(version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // no data before the odd version
}
inline void end_writing(std::atomic<std::uint64_t>& version) {
  version.store(version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// `version()` reads the version, `copy()` the data. False where these were being written meanwhile.
template <class Version, class Copy>
bool read_whole(Version version, Copy copy) {
  const std::uint64_t before = version();
  std::atomic_thread_fence(std::memory_order_acquire);
  copy();
  std::atomic_thread_fence(std::memory_order_acquire);
  return before % 2 == 0 && version() == before;
}

}  // namespace sumac
