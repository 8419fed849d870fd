// SPDX-License-Identifier: BSD-3-Clause
// A duplicate or contiguous type repeats this type.
#pragma once

#include "interpose/mpi/constants.h"

namespace sumac {

class RepeatedType {
 public:
  explicit RepeatedType(MpiDatatype type);
  ~RepeatedType();  // frees a derived inner type, which comes as a new handle
  RepeatedType(const RepeatedType&) = delete;
  RepeatedType& operator=(const RepeatedType&) = delete;

  // Returns MPI_DATATYPE_NULL for types of any other constructor.
  MpiDatatype inner() const { return inner_; }
  MpiCount count() const { return count_; }

 private:
  MpiDatatype inner_ = kMpi.datatype_null;
  MpiCount count_ = 1;
};

}  // namespace sumac
