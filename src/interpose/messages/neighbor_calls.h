// SPDX-License-Identifier: BSD-3-Clause
// MPI_Neighbor_alltoallw and MPI_Ineighbor_alltoallw of types with gaps, packed here
// (SUMAC_PACK_MESSAGES). All other neighbourhood collectives are the MPI's.
#pragma once

namespace sumac {

// Calls serve(call, function) for each of them: from then on what counts the call goes on to the
// function, not to the MPI.
void serve_neighbors(void (*serve)(int call, void* function));

}  // namespace sumac
