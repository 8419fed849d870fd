// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/mpi_functions.h"

namespace sumac {

MpiFunctions mpi;

namespace {

template <class Function>
void set(Function& function, void* address) {
  function = reinterpret_cast<Function>(address);
}

}  // namespace

const char* find_mpi_functions(const sumac_stub& stub) {
#define SUMAC_LOOK_UP(name)                  \
  set(mpi.name, stub.lookup("PMPI_" #name)); \
  if (!mpi.name && !missing) missing = "MPI_" #name;
#define SUMAC_TAKE(name)                       \
  set(mpi.name, stub.real[SUMAC_CALL_##name]); \
  if (!mpi.name && !missing) missing = "MPI_" #name;
  const char* missing = nullptr;
  SUMAC_MPI_FUNCTIONS(SUMAC_LOOK_UP)
  SUMAC_MPI_FORTRAN(SUMAC_LOOK_UP)
  SUMAC_MPI_INTERCEPTED(SUMAC_TAKE)
#undef SUMAC_LOOK_UP
#undef SUMAC_TAKE
#define SUMAC_MAY_LOOK_UP(name) set(mpi.name, stub.lookup("PMPI_" #name));
  SUMAC_MPI_FOUND_OR_NOT(SUMAC_MAY_LOOK_UP)
#undef SUMAC_MAY_LOOK_UP
#define SUMAC_MAY_TAKE(name) set(mpi.name, stub.real[SUMAC_CALL_##name]);
  SUMAC_MPI_OPTIONAL(SUMAC_MAY_TAKE)
#undef SUMAC_MAY_TAKE
  return missing;
}

}  // namespace sumac
