// SPDX-License-Identifier: BSD-3-Clause
// Some types have gaps (MPI_DOUBLE_INT). A reduction folds an element with the bytes of its gaps,
// but the gaps of a receive buffer belong to the program: so it needs memory of its own.
#pragma once

#include <cstddef>

#include "interpose/mpi/constants.h"
#include "interpose/mpi/type_info.h"

namespace sumac {

// Copies elements; gaps at the destination keep their bytes.
void copy_elements(const TypeInfo& type, std::byte* to, const std::byte* from, std::size_t count);

// This holds memory for a reduction's result during one operation. It ends the job if there is
// none, since the other ranks wait for this one.
class StagedResult {
 public:
  // Puts the memory in the place of `output`.
  StagedResult(const TypeInfo& type, std::byte*& output, std::size_t count, MpiComm comm);
  ~StagedResult();
  StagedResult(const StagedResult&) = delete;
  StagedResult& operator=(const StagedResult&) = delete;

  void deliver() const;  // copies the result to the program's buffer

 private:
  TypeInfo type_;
  std::byte* output_;
  std::byte* stage_;
  std::size_t count_;
};

// This memory is kept from one small call to the next.
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
