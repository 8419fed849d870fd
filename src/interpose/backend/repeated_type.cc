// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/repeated_type.h"

#include "interpose/backend/handles.h"
#include "interpose/backend/mpi_functions.h"

namespace sumac {
namespace {

// Not to be freed by whoever gets it from another type's contents.
bool is_predefined(MPI_Datatype type) {
  if (find_known_type(type)) return true;
  int integers = 0, addresses = 0, datatypes = 0, combiner = 0;
  mpi.Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner);
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

}  // namespace

RepeatedType::RepeatedType(MPI_Datatype type) {
  int integers = 0, addresses = 0, datatypes = 0, combiner = 0;
  if (mpi.Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner) != MPI_SUCCESS) {
    return;
  }
  if (combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS) return;
  if (integers > 1 || addresses > 0 || datatypes != 1) return;
  MPI_Aint no_address = 0;
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  if (mpi.Type_get_contents(type, integers, addresses, datatypes, &count_, &no_address, &inner) ==
      MPI_SUCCESS) {
    inner_ = inner;
  }
}

RepeatedType::~RepeatedType() {
  if (inner_ != MPI_DATATYPE_NULL && !is_predefined(inner_)) mpi.Type_free(&inner_);
}

}  // namespace sumac
