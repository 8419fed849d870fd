// SPDX-License-Identifier: BSD-3-Clause
// The arguments of the call that made a datatype.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "interpose/mpi/type_envelope.h"

namespace sumac {

class TypeContents {
 public:
  // `envelope` is the type's, which is not predefined.
  TypeContents(MPI_Datatype type, const TypeEnvelope& envelope);
  ~TypeContents();  // derived types come as new handles
  TypeContents(const TypeContents&) = delete;
  TypeContents& operator=(const TypeContents&) = delete;

  bool valid() const { return valid_; }
  // The numbers in the order of the constructor's arguments: constructors with int counts give
  // integers and then addresses, those with large counts give large counts instead.
  MPI_Count number(std::size_t i) const {
    if (!large_counts_.empty()) return large_counts_[i];
    return i < integers_.size() ? integers_[i] : addresses_[i - integers_.size()];
  }
  std::size_t count(std::size_t i) const { return static_cast<std::size_t>(number(i)); }
  // True when integers and large counts are mixed.
  bool is_mixed() const { return !large_counts_.empty() && !integers_.empty(); }
  std::size_t types() const { return types_.size(); }
  MPI_Datatype type(std::size_t i) const { return types_[i]; }

 private:
  std::vector<int> integers_;
  std::vector<MPI_Aint> addresses_;
  std::vector<MPI_Count> large_counts_;
  std::vector<MPI_Datatype> types_;
  bool valid_;
};

}  // namespace sumac
