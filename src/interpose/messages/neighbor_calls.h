// SPDX-License-Identifier: BSD-3-Clause
// MPI_Neighbor_alltoallw and MPI_Ineighbor_alltoallw of types with gaps, packed here
// (SUMAC_PACK_MESSAGES). All other neighbourhood collectives are the MPI's.
#pragma once

namespace sumac {

// Takes these calls behind the functions that count them.
void serve_neighbors();

}  // namespace sumac
