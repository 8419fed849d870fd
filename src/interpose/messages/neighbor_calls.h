// SPDX-License-Identifier: BSD-3-Clause
// MPI_Neighbor_alltoallw and MPI_Ineighbor_alltoallw of types with gaps, packed here
// (SUMAC_PACK_MESSAGES). All other neighbourhood collectives are the MPI's.
#pragma once

#include "interpose/stub/stub.h"

namespace sumac {

void redirect_neighbors(const sumac_stub& stub);

}  // namespace sumac
