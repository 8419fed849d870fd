// SPDX-License-Identifier: BSD-3-Clause
// Memory that is kept from one small call to the next.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace sumac {

class GrowingMemory {
 public:
  GrowingMemory() = default;
  ~GrowingMemory() { free(); }
  GrowingMemory(const GrowingMemory&) = delete;
  GrowingMemory& operator=(const GrowingMemory&) = delete;

  // At least so many bytes, aligned to cache lines. What was in them may be lost. Ends the job
  // where there is no memory: the other ranks count on us.
  std::byte* get(std::size_t bytes, MPI_Comm comm) {
    if (bytes > bytes_) [[unlikely]]
      grow(bytes, comm);
    return memory_;
  }
  // Gives much memory back.
  void trim() {
    if (bytes_ > kKept) [[unlikely]]
      free();
  }
  void free();

 private:
  static constexpr std::size_t kKept = 256 << 10;
  void grow(std::size_t bytes, MPI_Comm comm);

  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace sumac
