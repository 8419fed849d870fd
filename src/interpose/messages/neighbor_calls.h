// SPDX-License-Identifier: BSD-3-Clause
// This file packs types with gaps in MPI_Neighbor_alltoallw and MPI_Ineighbor_alltoallw
// (SUMAC_PACK_MESSAGES). All other neighbourhood collectives are left to the MPI.
#pragma once

namespace sumac {

// Calls serve(call, function) for each of them: from then on the function that counts the call goes
// on to this function, not to the MPI.
void serve_neighbors(void (*serve)(int call, void* function));

}  // namespace sumac
