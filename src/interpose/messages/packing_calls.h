// SPDX-License-Identifier: BSD-3-Clause
// The back end redirects calls to these functions, which pack messages, and exchanges that are left
// to the MPI, if their types have gaps (SUMAC_PACK_MESSAGES).
#pragma once

#include "interpose/mpi/call.h"
#include "interpose/stub/stub.h"

namespace sumac {

// Puts functions before the point-to-point calls. Their requests are the MPI's own.
void redirect_messages(const sumac_stub& stub);

// Serves MPI_Alltoall and MPI_Alltoallw, blocking and nonblocking. Makes the call by the MPI's own
// function, whatever the collective (hand_to_mpi of perform.h).
int hand_packed(const Call& call);

// Serves MPI_Neighbor_alltoallw and MPI_Ineighbor_alltoallw; all other neighbourhood collectives
// are left to the MPI. Calls serve(call, function) for each of the two: from then on the function
// that counts the call goes on to this function, not to the MPI.
void serve_neighbors(void (*serve)(int call, void* function));

}  // namespace sumac
