// SPDX-License-Identifier: BSD-3-Clause
// All-reduce by all ranks of equally large nodes, wherever they are in the hierarchy, slow ranks
// too. A chunk of the vector is cut into one part a rank of the node. In turn, the node's ranks
// reduce and scatter the chunk, each reduces its part with the ranks of the same place on the other
// nodes, and the node's ranks gather all parts. Two strands take the chunks in turn, so that one's
// node works while the other's nodes do.
//   Steps     those of a reduce-scatter, an all-reduce and an all-gather
//   Bytes     within a node 2n(p-1)/p a rank; between nodes as the algorithm for n/p there
//   Wins      medium and large messages, where messages within a node are fast, and where a leader's
//             folding or its link is what the others wait for (slow ranks, several adapters)
//   Needs     messages between all ranks; nodes of as many ranks each
// Source: Träff and Hunold, "Decomposing MPI Collectives for Exploiting Multi-lane Communication"
// (CLUSTER 2020).
#pragma once

#include "levels/stage.h"

namespace sumac {

struct AllRanks {
  const ReduceArguments* args = nullptr;
  const LevelGroup* node = nullptr;             // of all its ranks
  const LevelGroup* across = nullptr;           // the ranks in this one's place on all nodes
  const StagePlan* stages = nullptr;            // scatter, exchange and gather
  Chunks chunks{0, kCacheLine, kCacheLine};     // of the vector
  std::array<MessageGroup, 2 * kWidth> groups;  // of each strand: the node, then across

  int width() const { return static_cast<int>(std::min<std::size_t>(kWidth, chunks.count())); }
};

// The vector in chunks of which a rank's part has at most `most` bytes.
inline Chunks vector_in_chunks(std::size_t bytes, std::size_t element, int ranks,
                               std::size_t most) {
  const std::size_t unit = std::max(kCacheLine, element);
  return {bytes, std::max(most, unit) * static_cast<std::size_t>(ranks), unit};
}

// The parts of a chunk, one for each rank of the node.
inline Parts parts_of_chunk(std::size_t bytes, std::size_t element, int ranks) {
  return {bytes, ranks, std::max(kCacheLine, element)};
}

// The work of a strand.
Task all_ranks(Strand& strand, AllRanks& work, int which);

}  // namespace sumac
