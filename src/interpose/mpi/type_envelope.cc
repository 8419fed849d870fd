// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/type_envelope.h"

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

}  // namespace sumac
