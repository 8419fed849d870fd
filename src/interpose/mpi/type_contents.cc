// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/type_contents.h"

#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {

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

}  // namespace sumac
