// SPDX-License-Identifier: BSD-3-Clause
// How a datatype was made, whether by a constructor with int or with large counts
// (MPI_Type_vector_c): of the latter MPI_Type_get_envelope is an error.
#pragma once

#include <mpi.h>

namespace sumac {

struct TypeEnvelope {
  MPI_Count integers = 0, addresses = 0, large_counts = 0, datatypes = 0;
  int combiner = MPI_UNDEFINED;

  // Not to be freed by whoever gets such a type from another type's contents.
  bool is_predefined() const {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
  }
};

// False where the handle is no type.
bool read_envelope(MPI_Datatype type, TypeEnvelope& envelope);

// Of a duplicate, or of a contiguous type: the type it repeats, to be freed unless predefined, and
// how often. False for all others.
bool read_repetition(MPI_Datatype type, MPI_Datatype& inner, MPI_Count& count);

}  // namespace sumac
