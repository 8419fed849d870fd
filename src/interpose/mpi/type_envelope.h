// SPDX-License-Identifier: BSD-3-Clause
// The envelope says how a datatype was made, by a constructor with int or with large counts
// (MPI_Type_vector_c). For the latter MPI_Type_get_envelope is an error.
#pragma once

#include "interpose/mpi/constants.h"

namespace sumac {

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

}  // namespace sumac
