// SPDX-License-Identifier: BSD-3-Clause
// All-reduce, reduce and broadcast by all ranks of equally large nodes, wherever they are in the
// hierarchy. A chunk of the vector is cut into one part for each fast rank of the node. The node's
// ranks, slow ones too, reduce and scatter the chunk; each fast one reduces its part with the ranks
// of the same place on the other nodes; and the node's ranks gather all parts. In a reduction to
// one rank only the root gathers, from the ranks of its node. In a broadcast the root scatters the
// chunk to its node, and each rank there broadcasts its part to the other nodes
// (all_ranks_bcast.cc). Several strands take the chunks in turn, so that chunks are scattered,
// exchanged, folded and gathered at the same time.
//   Steps     those of a reduce-scatter or one message, of the collective between nodes, and of an
//             all-gather or one message
//   Bytes     within a node 2n(p-1)/p a rank; between nodes as the algorithm for n/p there
//   Wins      medium and large messages, where messages within a node are fast, and where a
//             leader's folding or its link is what the others wait for (slow ranks, several
//             adapters)
//   Needs     messages between all ranks; nodes of as many ranks each
// The plan called all_ranks_peers hands some chunks over: slow ranks send them whole to fast ranks
// of their node, their peers, which fold them and take part for both; in an all-reduce the slow
// ranks get the result in the end. So slow ranks and their memory work on the other chunks, while
// these chunks travel between them and their hosts, on a link that would be idle. Source: Träff and
// Hunold, "Decomposing MPI Collectives for Exploiting Multi-lane Communication" (CLUSTER 2020).
#pragma once

#include "levels/call_plan.h"

namespace sumac {

// Returns true if slow ranks hand chunk number `chunk` of `count` over. If their memory is about
// four times as fast as the link to their hosts, one chunk takes as long there and back as five
// take within the slow ranks, so they hand over one of six. If there are very few chunks, none is
// small enough.
constexpr bool is_handed(std::size_t chunk, std::size_t count) {
  constexpr std::size_t kOneOf = 6, kFewest = 5;
  return count >= kFewest && chunk % kOneOf == 0;
}

// Returns the fast rank of the node to which a slow one hands its chunks.
constexpr int peer_of_slow(int rank, int parts) { return rank % parts; }

// Returns the parts of a chunk. The first `parts` ranks of the node have parts of equal size; the
// others have none.
inline Parts parts_of_chunk(std::size_t bytes, std::size_t element, int ranks, int parts) {
  const std::size_t unit = std::max(kCacheLine, element);
  const std::size_t each = div_up(std::max(bytes, unit), static_cast<std::size_t>(parts));
  return {bytes, ranks, round_up(each, unit)};
}

// The works of a plan's stages: in the node, across nodes, and in the node again.
struct AllRanksWorks {
  StageWork scatter, exchange, gather;
};
// An all-reduce has the first; the root of a reduction gathers, and that of a broadcast scatters.
extern const AllRanksWorks kReduceToAll, kReduceToRoot, kBcastFromRoot;

// Return what the stages cost. A node does the former together, its root the latter alone.
Traffic price_in_node(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
                      const CallShape& shape);
Traffic price_at_root(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
                      const CallShape& shape);
Traffic price_across(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
                     const CallShape& shape);

}  // namespace sumac
