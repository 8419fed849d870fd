// SPDX-License-Identifier: BSD-3-Clause
// All-reduce with every rank of a node a leader, for nodes of the same number of ranks. The vector
// is cut into one part a rank of the node. Three strands, fed piece by piece:
//   scatter   ranks of the node put pieces of all parts into slots; each folds those of its part
//   exchange  each reduces its part with the ranks of the same place on the other nodes
//   gather    each puts its results into slots, and copies the others' out
//   Steps     in the node 2, pipelined; between nodes as the algorithm for n/p there
//   Bytes     a node sends what one leader would, from all its ranks at the same time
//   Wins      large messages, where one rank cannot use up what the node's network gives
//   Needs     two levels: nodes that share memory, and what is between them
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
  const StagePlan* stages = nullptr;         // three, as list_multi_leader has them
  StartSending exchange = nullptr;           // in place, on what is the rank's own part
  Chunks chunks{0, kCacheLine, kCacheLine};  // exchanged at a time, of this rank's part
  std::array<MessageGroup, kWidth> groups;   // of each strand of the exchange
  ChunkCounter folded, exchanged;

  void begin();
  Part part(int rank) const;  // of the vector
  // How all parts go through the slots: the number of steps, the bytes of a slot that are used, the
  // most that one part has of them, and a rank's piece in a step.
  std::size_t steps() const;
  std::size_t room() const { return node->up.slot_bytes(); }
  std::size_t most() const;
  Piece piece(std::size_t step, int rank) const;
};

// The part of a rank of the node, cut into chunks of at most `most` bytes.
Chunks part_in_chunks(std::size_t bytes, const LevelGroup& node, std::size_t most);

// Lists three stages: scatter, exchange and gather. The caller chooses those of their algorithms
// that are not `algorithm` itself.
void list_multi_leader(const LevelGroup& node, Algorithm algorithm, StagePlans& stages);

Task scatter(Strand& strand, MultiLeader& work);
Task exchange(Strand& strand, MultiLeader& work, int which);
Task gather(Strand& strand, MultiLeader& work);

// What scatter and gather cost a rank of the node, in steps for the first `call.chunk` bytes of a
// part.
Cost scatter_cost(const GroupCall& call);
Cost gather_cost(const GroupCall& call);

}  // namespace sumac
