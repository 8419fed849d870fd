// SPDX-License-Identifier: BSD-3-Clause
// This memory is kept from one small call to the next.
#pragma once

#include <cstddef>

#include "interpose/mpi/constants.h"

namespace sumac {

class GrowingMemory {
 public:
  GrowingMemory() = default;
  ~GrowingMemory() { free(); }
  GrowingMemory(const GrowingMemory&) = delete;
  GrowingMemory& operator=(const GrowingMemory&) = delete;

  // Returns at least `bytes` bytes, aligned to cache lines; earlier contents may be lost. Ends the
  // job if there is no memory, since the other ranks wait for this one.
  std::byte* get(std::size_t bytes, MpiComm comm) {
    if (bytes > bytes_) [[unlikely]]
      grow(bytes, comm);
    return memory_;
  }
  // Returns large memory to the system.
  void trim() {
    if (bytes_ > kKept) [[unlikely]]
      free();
  }
  void free();

 private:
  static constexpr std::size_t kKept = 256 << 10;
  void grow(std::size_t bytes, MpiComm comm);

  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace sumac
