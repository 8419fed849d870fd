// SPDX-License-Identifier: BSD-3-Clause
// These are the arguments of the call that made a datatype.
#pragma once

#include <cstddef>
#include <vector>

#include "interpose/mpi/handle_types.h"
#include "interpose/mpi/type_envelope.h"

namespace sumac {

class TypeContents {
 public:
  // `envelope` is that of the type, which must not be predefined.
  TypeContents(MpiDatatype type, const TypeEnvelope& envelope);
  ~TypeContents();  // frees derived types, which come as new handles
  TypeContents(const TypeContents&) = delete;
  TypeContents& operator=(const TypeContents&) = delete;

  bool valid() const { return valid_; }
  // Returns one of the numbers, which are in the order of the constructor's arguments: constructors
  // with int counts give integers and then addresses, those with large counts give large counts
  // instead.
  MpiCount number(std::size_t i) const {
    if (!large_counts_.empty()) return large_counts_[i];
    return i < integers_.size() ? integers_[i] : addresses_[i - integers_.size()];
  }
  std::size_t count(std::size_t i) const { return static_cast<std::size_t>(number(i)); }
  // Returns true if integers and large counts are mixed.
  bool is_mixed() const { return !large_counts_.empty() && !integers_.empty(); }
  std::size_t types() const { return types_.size(); }
  MpiDatatype type(std::size_t i) const { return types_[i]; }

 private:
  std::vector<int> integers_;
  std::vector<MpiAint> addresses_;
  std::vector<MpiCount> large_counts_;
  HandleArray<MpiDatatype> types_;
  bool valid_;
};

}  // namespace sumac
