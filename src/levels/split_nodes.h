// SPDX-License-Identifier: BSD-3-Clause
// multi_leader where the ranks of a node send one another messages. A chunk of the vector is cut
// into one part a rank of the node. In turn, the node's ranks reduce and scatter it, each reduces
// its part with the ranks of the same place on the other nodes, and the node's ranks gather all
// parts. Two strands take the chunks in turn, so that one's node works while the other's nodes do.
//   Steps     those of a reduce-scatter, an all-reduce and an all-gather
//   Bytes     within a node 2n(p-1)/p a rank; between nodes as the algorithm for n/p there
#pragma once

#include "levels/stage.h"

namespace sumac {

struct SplitNodes {
  const LevelGroup* node = nullptr;
  const ReduceArguments* args = nullptr;
  const StagePlan* stages = nullptr;            // three, as list_multi_leader has them
  Chunks chunks{0, kCacheLine, kCacheLine};     // of the vector
  std::array<MessageGroup, 2 * kWidth> groups;  // of each strand: the node, then its counterparts

  int width() const { return static_cast<int>(std::min<std::size_t>(kWidth, chunks.count())); }
};

// The vector in chunks of which a rank's part has at most `most` bytes.
inline Chunks vector_in_chunks(std::size_t bytes, std::size_t element, const LevelGroup& node,
                               std::size_t most) {
  const std::size_t unit = std::max(kCacheLine, element);
  return {bytes, std::max(most, unit) * static_cast<std::size_t>(node.size), unit};
}

// The work of a strand.
Task split_nodes(Strand& strand, SplitNodes& work, int which);

}  // namespace sumac
