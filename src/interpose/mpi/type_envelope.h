// SPDX-License-Identifier: BSD-3-Clause
// How a datatype was made, by a constructor with int or with large counts (MPI_Type_vector_c). For
// the latter MPI_Type_get_envelope is an error.
#pragma once

#include <mpi.h>

namespace sumac {

struct TypeEnvelope {
  MPI_Count integers = 0, addresses = 0, large_counts = 0, datatypes = 0;
  int combiner = MPI_UNDEFINED;

  // True when a type obtained from another type's contents must not be freed.
  bool is_predefined() const {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
  }
};

// Returns false where the handle is no type.
bool read_envelope(MPI_Datatype type, TypeEnvelope& envelope);

// For a duplicate or contiguous type: the type that it repeats, which the caller frees unless it is
// predefined, and how often. Returns false for all others.
bool read_repetition(MPI_Datatype type, MPI_Datatype& inner, MPI_Count& count);

}  // namespace sumac
