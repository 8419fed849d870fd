// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/type_contents.h"

#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {

TypeContents::TypeContents(MPI_Datatype type, const TypeEnvelope& e)
    : integers_(static_cast<std::size_t>(e.integers)),
      addresses_(static_cast<std::size_t>(e.addresses)),
      large_counts_(static_cast<std::size_t>(e.large_counts)),
      types_(static_cast<std::size_t>(e.datatypes), MPI_DATATYPE_NULL) {
  if (mpi.Type_get_contents_c) {
    valid_ = mpi.Type_get_contents_c(type, e.integers, e.addresses, e.large_counts, e.datatypes,
                                     integers_.data(), addresses_.data(), large_counts_.data(),
                                     types_.data()) == MPI_SUCCESS;
  } else {
    valid_ =
        mpi.Type_get_contents(type, static_cast<int>(e.integers), static_cast<int>(e.addresses),
                              static_cast<int>(e.datatypes), integers_.data(), addresses_.data(),
                              types_.data()) == MPI_SUCCESS;
  }
}

TypeContents::~TypeContents() {
  for (MPI_Datatype& type : types_) {
    if (!valid_ || type == MPI_DATATYPE_NULL || find_known_type(type)) continue;
    TypeEnvelope envelope;
    if (read_envelope(type, envelope) && !envelope.is_predefined()) mpi.Type_free(&type);
  }
}

}  // namespace sumac
