// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/type_envelope.h"

#include "interpose/mpi/mpi_functions.h"

namespace sumac {

bool read_envelope(MPI_Datatype type, TypeEnvelope& e) {
  if (type == MPI_DATATYPE_NULL) return false;
  if (mpi.Type_get_envelope_c) {
    return mpi.Type_get_envelope_c(type, &e.integers, &e.addresses, &e.large_counts, &e.datatypes,
                                   &e.combiner) == MPI_SUCCESS;
  }
  int integers = 0, addresses = 0, datatypes = 0;
  const int error = mpi.Type_get_envelope(type, &integers, &addresses, &datatypes, &e.combiner);
  e.integers = integers;
  e.addresses = addresses;
  e.datatypes = datatypes;
  return error == MPI_SUCCESS;
}

bool read_repetition(MPI_Datatype type, MPI_Datatype& inner, MPI_Count& count) {
  TypeEnvelope e;
  if (!read_envelope(type, e)) return false;
  if (e.combiner != MPI_COMBINER_DUP && e.combiner != MPI_COMBINER_CONTIGUOUS) return false;
  if (e.integers + e.large_counts > 1 || e.addresses > 0 || e.datatypes != 1) return false;
  int integer = 1;  // as a duplicate, which has none, has it
  MPI_Aint no_address = 0;
  MPI_Count large = 1;
  const int error =
      mpi.Type_get_contents_c
          ? mpi.Type_get_contents_c(type, e.integers, e.addresses, e.large_counts, e.datatypes,
                                    &integer, &no_address, &large, &inner)
          : mpi.Type_get_contents(type, static_cast<int>(e.integers), 0, 1, &integer, &no_address,
                                  &inner);
  count = e.large_counts > 0 ? large : integer;
  return error == MPI_SUCCESS;
}

}  // namespace sumac
