// SPDX-License-Identifier: BSD-3-Clause
// Finds an MPI's binary interface, which says what its handles and constants are.
#include <stddef.h>

#include "interpose/stub/internal.h"

// MPICH 5's libmpi.so.12 has the function too, and then returns version -1.
static bool has_standard_abi(void* mpi) {
  int (*abi_version)(int*, int*) = (int (*)(int*, int*))stub_symbol(mpi, "PMPI_Abi_get_version");
  if (abi_version == NULL) {
    abi_version = (int (*)(int*, int*))stub_symbol(mpi, "MPI_Abi_get_version");
  }
  int major = -1, minor = -1;
  return abi_version != NULL && abi_version(&major, &minor) == 0 && major > 0;
}

// MPICH 3 and later and its derivatives (Intel, MVAPICH, Cray) export these extensions, but Open
// MPI does not.
static bool is_mpich(void* mpi) {
  static const char* const marks[] = {"PMPIX_Grequest_start", "MPIX_Grequest_start",
                                      "MPIR_Err_return_comm", "MPIR_Dup_fn"};
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; ++i) {
    if (stub_symbol(mpi, marks[i]) != NULL) return true;
  }
  return false;
}

const char* stub_family(void* mpi) {
  if (has_standard_abi(mpi)) return "mpiabi";
  if (stub_symbol(mpi, "ompi_mpi_comm_world") != NULL) return "openmpi";
  if (is_mpich(mpi)) return "mpich";
  return NULL;
}
