// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/type_contents.h"

#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {

bool read_envelope(MpiDatatype type, TypeEnvelope& e) {
  if (type == kMpi.datatype_null) return false;
  if (mpi.Type_get_envelope_c) {
    return mpi.Type_get_envelope_c(type, &e.integers, &e.addresses, &e.large_counts, &e.datatypes,
                                   &e.combiner) == kMpiSuccess;
  }
  int integers = 0, addresses = 0, datatypes = 0;
  const int error = mpi.Type_get_envelope(type, &integers, &addresses, &datatypes, &e.combiner);
  e.integers = integers;
  e.addresses = addresses;
  e.datatypes = datatypes;
  return error == kMpiSuccess;
}

bool read_repetition(MpiDatatype type, MpiDatatype& inner, MpiCount& count) {
  TypeEnvelope e;
  if (!read_envelope(type, e)) return false;
  if (e.combiner != kMpi.combiner_dup && e.combiner != kMpi.combiner_contiguous) return false;
  if (e.integers + e.large_counts > 1 || e.addresses > 0 || e.datatypes != 1) return false;
  int integer = 1;  // stays 1 for a duplicate, which has no count
  MpiAint no_address = 0;
  MpiCount large = 1;
  const int error =
      mpi.Type_get_contents_c
          ? mpi.Type_get_contents_c(type, e.integers, e.addresses, e.large_counts, e.datatypes,
                                    &integer, &no_address, &large, one(inner))
          : mpi.Type_get_contents(type, static_cast<int>(e.integers), 0, 1, &integer, &no_address,
                                  one(inner));
  count = e.large_counts > 0 ? large : integer;
  return error == kMpiSuccess;
}

TypeContents::TypeContents(MpiDatatype type, const TypeEnvelope& e)
    : integers_(static_cast<std::size_t>(e.integers)),
      addresses_(static_cast<std::size_t>(e.addresses)),
      large_counts_(static_cast<std::size_t>(e.large_counts)),
      types_(static_cast<std::size_t>(e.datatypes), kMpi.datatype_null) {
  if (mpi.Type_get_contents_c) {
    valid_ = mpi.Type_get_contents_c(type, e.integers, e.addresses, e.large_counts, e.datatypes,
                                     integers_.data(), addresses_.data(), large_counts_.data(),
                                     types_.data()) == kMpiSuccess;
  } else {
    valid_ =
        mpi.Type_get_contents(type, static_cast<int>(e.integers), static_cast<int>(e.addresses),
                              static_cast<int>(e.datatypes), integers_.data(), addresses_.data(),
                              types_.data()) == kMpiSuccess;
  }
}

TypeContents::~TypeContents() {
  for (std::size_t i = 0; i < types_.size(); ++i) {
    MpiDatatype type = types_[i];
    if (!valid_ || type == kMpi.datatype_null || find_known_type(type)) continue;
    TypeEnvelope envelope;
    if (read_envelope(type, envelope) && !envelope.is_predefined()) mpi.Type_free(one(type));
  }
}

RepeatedType::RepeatedType(MpiDatatype type) {
  MpiDatatype inner = kMpi.datatype_null;
  if (read_repetition(type, inner, count_)) inner_ = inner;
}

RepeatedType::~RepeatedType() {
  if (inner_ == kMpi.datatype_null || find_known_type(inner_)) return;
  TypeEnvelope envelope;
  if (read_envelope(inner_, envelope) && !envelope.is_predefined()) mpi.Type_free(one(inner_));
}

}  // namespace sumac
