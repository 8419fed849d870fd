// SPDX-License-Identifier: BSD-3-Clause
// Broadcast of a chunk by all ranks of equally large nodes (all_ranks.h). The root sends each fast
// rank of its node a part, which that rank broadcasts to the ranks of the same place on the other
// nodes; the ranks of each node gather the parts.
//   Steps     one message, those of a broadcast between nodes, and those of an all-gather
//   Bytes     the root sends n; between nodes as the algorithm for n/p there; within n(p-1)/p a
//   rank Wins      medium and large messages over many nodes: no rank passes on all of the data
//   Needs     as all_ranks
// Nothing is written to the root's buffer, which may be read-only memory: what the root gathers
// goes to memory of the strand.
// Source: as all_ranks; within one group, van de Geijn's broadcast (Barnett et al., "Interprocessor
// collective communication library", SHPCC 1994).
#pragma once

#include "levels/all_ranks.h"

namespace sumac {

Task bcast_chunk(Strand& strand, AllRanks& work, std::size_t which, std::size_t chunk);

}  // namespace sumac
