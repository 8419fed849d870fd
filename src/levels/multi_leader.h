// SPDX-License-Identifier: BSD-3-Clause
// All-reduce in which every rank of a node is a leader, for nodes of the same number of ranks. The
// vector is cut into one part for each rank of the node. Three strands get it piece by piece:
//   scatter   ranks of the node put pieces of all parts into slots; each folds those of its part
//   exchange  each reduces its part with the ranks of the same place on the other nodes
//   gather    each puts its results into slots, and copies the others' out
//   Steps     in the node 2, pipelined; between nodes as the algorithm for n/p there
//   Bytes     a node sends what one leader would, from all its ranks at the same time
//   Wins      large messages, where one rank cannot use up what the node's network gives
//   Needs     two levels: nodes that share memory, and the level between them
#pragma once

#include "algorithms/cost.h"
#include "algorithms/slots.h"
#include "algorithms/table.h"
#include "levels/stage.h"

namespace sumac {

struct MultiLeader {
  LevelGroup* node = nullptr;
  const LevelGroup* across = nullptr;  // the ranks of the same place on all nodes
  const ReduceArguments* args = nullptr;
  const StagePlan* stages = nullptr;         // three, in the order of list_multi_leader
  StartSending exchange = nullptr;           // in place, on the rank's own part
  Chunks chunks{0, kCacheLine, kCacheLine};  // chunks of this rank's part, exchanged one at a time
  std::array<MessageGroup, kWidth> groups;   // one for each strand of the exchange
  ChunkCounter folded, exchanged;

  void begin();
  Part part(int rank) const;  // part of the vector
  // All parts go through the slots in steps() steps. room() is the bytes of a slot that are used,
  // most() the most of them that one part has, and piece() a rank's piece in a step.
  std::size_t steps() const;
  std::size_t room() const { return node->up.slot_bytes(); }
  std::size_t most() const;
  Piece piece(std::size_t step, int rank) const;
};

// Returns the part of a rank of the node, cut into chunks of at most `most` bytes.
Chunks part_in_chunks(std::size_t bytes, const LevelGroup& node, std::size_t most);

// Lists three stages: scatter, exchange and gather. The caller chooses those of their algorithms
// that are not `algorithm` itself.
void list_multi_leader(const LevelGroup& node, Algorithm algorithm, StagePlans& stages);

Task scatter(Strand& strand, MultiLeader& work);
Task exchange(Strand& strand, MultiLeader& work, int which);
Task gather(Strand& strand, MultiLeader& work);

// Return the cost of scatter and gather for a rank of the node: their steps are those of the first
// `call.chunk` bytes of a part.
Cost scatter_cost(const GroupCall& call);
Cost gather_cost(const GroupCall& call);

}  // namespace sumac
