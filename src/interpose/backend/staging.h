// SPDX-License-Identifier: BSD-3-Clause
// Types with gaps (MPI_DOUBLE_INT) in reductions. An element is reduced with the bytes of its gaps,
// but those of a receive buffer are the program's.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "interpose/backend/type_info.h"

namespace sumac {

// Elements to another place, where gaps keep what is in them.
void copy_elements(const TypeInfo& type, std::byte* to, const std::byte* from, std::size_t count);

// Where a reduction leaves its result for the time of one operation. Ends the job when there is no
// memory for it: the other ranks count on us.
class StagedResult {
 public:
  // Takes the place of `output`.
  StagedResult(const TypeInfo& type, std::byte*& output, std::size_t count, MPI_Comm comm);
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

// Whether the reduction needs one for `count` elements of its result.
inline bool wants_stage(const TypeInfo& type, const std::byte* output, std::size_t count) {
  return type.has_gaps() && output && count > 0;
}

}  // namespace sumac
