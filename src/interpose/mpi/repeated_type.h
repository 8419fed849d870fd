// SPDX-License-Identifier: BSD-3-Clause
// The type that a duplicate or contiguous type repeats.
#pragma once

#include <mpi.h>

namespace sumac {

class RepeatedType {
 public:
  explicit RepeatedType(MPI_Datatype type);
  ~RepeatedType();  // a derived inner type comes as a new handle
  RepeatedType(const RepeatedType&) = delete;
  RepeatedType& operator=(const RepeatedType&) = delete;

  // MPI_DATATYPE_NULL for types of any other constructor.
  MPI_Datatype inner() const { return inner_; }
  MPI_Count count() const { return count_; }

 private:
  MPI_Datatype inner_ = MPI_DATATYPE_NULL;
  MPI_Count count_ = 1;
};

}  // namespace sumac
