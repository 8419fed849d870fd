// SPDX-License-Identifier: BSD-3-Clause
// This tells how a datatype was made: the constructor, and the arguments it was given.
#pragma once

#include <cstddef>
#include <vector>

#include "interpose/mpi/constants.h"
#include "interpose/mpi/handle_types.h"

namespace sumac {

// The envelope says how a datatype was made, by a constructor with int or with large counts
// (MPI_Type_vector_c). For the latter MPI_Type_get_envelope is an error.
struct TypeEnvelope {
  MpiCount integers = 0, addresses = 0, large_counts = 0, datatypes = 0;
  int combiner = kMpi.undefined;

  // Returns true if a type obtained from another type's contents must not be freed.
  bool is_predefined() const {
    return combiner == kMpi.combiner_named || combiner == kMpi.combiner_f90_real ||
           combiner == kMpi.combiner_f90_complex || combiner == kMpi.combiner_f90_integer;
  }
};

// Returns false if the handle is no type.
bool read_envelope(MpiDatatype type, TypeEnvelope& envelope);

// For a duplicate or contiguous type, finds the type that it repeats, which the caller frees unless
// it is predefined, and how often. Returns false for all others.
bool read_repetition(MpiDatatype type, MpiDatatype& inner, MpiCount& count);

// These are the arguments of the constructor.
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

// A duplicate or contiguous type repeats this type.
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
