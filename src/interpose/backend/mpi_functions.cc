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
  SUMAC_MPI_INTERCEPTED(SUMAC_TAKE)
#undef SUMAC_LOOK_UP
#undef SUMAC_TAKE
  set(mpi.Reduce_c, stub.real[SUMAC_CALL_Reduce_c]);
  set(mpi.Allreduce_c, stub.real[SUMAC_CALL_Allreduce_c]);
  set(mpi.Bcast_c, stub.real[SUMAC_CALL_Bcast_c]);
  set(mpi.Reduce_local_c, stub.real[SUMAC_CALL_Reduce_local_c]);
  return missing;
}

}  // namespace sumac
