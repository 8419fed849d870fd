// SPDX-License-Identifier: BSD-3-Clause
// MPI_Pack and MPI_Unpack in both forms.
#pragma once

#include <mpi.h>

#include "interpose/stub/stub.h"

namespace sumac {

struct PackCalls {
  decltype(&PMPI_Pack) pack;
  decltype(&PMPI_Unpack) unpack;
  int (*pack_large)(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Count*, MPI_Comm);
  int (*unpack_large)(const void*, MPI_Count, MPI_Count*, void*, MPI_Count, MPI_Datatype, MPI_Comm);
};

// Puts `own` before the MPI's. Returns the MPI's, or what the stub has in their place.
PackCalls redirect_pack_calls(const sumac_stub& stub, const PackCalls& own);

}  // namespace sumac
