// SPDX-License-Identifier: BSD-3-Clause
// One writer writes data that others read at any moment, also from another process. A version
// beside the data is odd while they are being written. Nobody waits for anybody: a reader that
// finds the data half written reads again.
#pragma once

#include <atomic>
#include <cstdint>

namespace sumac {

// The writer calls begin_writing() before and end_writing() after it writes the data. Only one
// thread at a time may write.
inline void begin_writing(std::atomic<std::uint64_t>& version) {
  version.store(version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // keeps the data behind the odd version
}
inline void end_writing(std::atomic<std::uint64_t>& version) {
  version.store(version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// `version()` reads the version, and `copy()` the data. Returns false if the data were being
// written meanwhile.
template <class Version, class Copy>
bool read_whole(Version version, Copy copy) {
  const std::uint64_t before = version();
  std::atomic_thread_fence(std::memory_order_acquire);
  copy();
  std::atomic_thread_fence(std::memory_order_acquire);
  return before % 2 == 0 && version() == before;
}

}  // namespace sumac
