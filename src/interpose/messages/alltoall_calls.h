// SPDX-License-Identifier: BSD-3-Clause
// If calls of MPI_Alltoall and MPI_Alltoallw, blocking and nonblocking, are left to the MPI, their
// types with gaps are packed here (SUMAC_PACK_MESSAGES).
#pragma once

#include "interpose/mpi/call.h"

namespace sumac {

// Makes the call by the MPI's own function, whatever the collective (hand_to_mpi of perform.h).
int hand_packed(const Call& call);

}  // namespace sumac
