// SPDX-License-Identifier: BSD-3-Clause
// Types with gaps (MPI_DOUBLE_INT) in reductions. An element is reduced with the bytes of its gaps,
// but the gaps of a receive buffer belong to the program.
#pragma once

#include <cstddef>

#include "interpose/mpi/constants.h"
#include "interpose/mpi/type_info.h"

namespace sumac {

// Copies elements; gaps at the destination keep their bytes.
void copy_elements(const TypeInfo& type, std::byte* to, const std::byte* from, std::size_t count);

// Memory for a reduction's result during one operation. Ends the job when there is none, since the
// other ranks wait for this one.
class StagedResult {
 public:
  // Takes the place of `output`.
  StagedResult(const TypeInfo& type, std::byte*& output, std::size_t count, MpiComm comm);
  ~StagedResult();
  StagedResult(const StagedResult&) = delete;
  StagedResult& operator=(const StagedResult&) = delete;

  void deliver() const;  // to the program's buffer

 private:
  TypeInfo type_;
  std::byte* output_;
  std::byte* stage_;
  std::size_t count_;
};

}  // namespace sumac
