// SPDX-License-Identifier: BSD-3-Clause
// The plan of a call over a hierarchy: which levels work in which stages, by which algorithms, and
// in which chunks the message goes through them. A function of what the ranks agreed on and of the
// call's shape, without memory or messages: a rank carries it out (levels_operation.h), `sumac
// plan` prints it, cost.h prices it.
#pragma once

#include <vector>

#include "levels/stage.h"
#include "rules/choice_table.h"

namespace sumac {

// Ranks that send one another messages and are no group of a level. No members: there are none.
struct SendingGroup {
  LevelGroup group;
  ChoiceTable choices;
};

// What the ranks of a hierarchy agreed on, as one of them takes part in it.
struct AgreedLevels {
  std::vector<LevelGroup> groups;    // that this rank takes part in
  std::size_t depth = 0;             // of the hierarchy
  ChoiceTable whole;                 // of the communicator
  std::vector<ChoiceTable> choices;  // by level
  ChoiceTable direct;                // of the lowest level in place, where that is possible
  SendingGroup counterparts;  // in the same place on every node, where multi_leader is possible
  SendingGroup all;           // where ranks can send messages: of flat; node after node
  SendingGroup node, across;  // where all_ranks is possible: of its stages
  int parts = 1;              // and how many of the node's ranks, the first ones, are fast
  std::shared_ptr<const TreeOrder> order;
  int place = 0, own = 0;  // this rank's, in the order and in the communicator

  // The direct algorithm of a call that `otherwise` serves, which stands for those that its stages
  // on the lowest level try first; or native. The same on all ranks of the group there.
  Algorithm choose_direct(Collective collective, std::size_t bytes, Algorithm otherwise) const;
  // The place of a rank in `all`, node after node: with nodes of as many ranks, it tells the node.
  int place_of_root(int root) const;
};

// The shape of a call: what else its plan depends on, the same on all ranks.
struct CallShape {
  Collective collective = Collective::allreduce;
  std::size_t bytes = 0, element = 1;
  int root = 0;                  // of the communicator; reduce and broadcast
  const Part* listed = nullptr;  // reduce-scatter and all-gather: parts that are not equal; by rank

  bool operator==(const CallShape&) const = default;
};

// Over levels, a barrier is an all-reduce of a word of this many bytes.
inline constexpr std::size_t kBarrierWord = 4;

struct CallPlan {
  Choice choice;  // of the communicator; `chunk` are the most bytes of a chunk
  Chunks chunks{0, kCacheLine, kCacheLine};  // of the message; of multi_leader, of the rank's part
  int parts = 1;                             // all_ranks: of a chunk
  bool hands = false;                        // all_ranks: see is_handed()
  Part first{0, 0}, last{0, 0};  // all_ranks, flat: what this rank exchanges of these chunks
  StagePlans stages;             // of this rank, in the order in which they begin
  Spread spread;                 // of a reduce-scatter and an all-gather, in place of chunks

  std::size_t num_chunks() const { return spread.count() ? spread.count() : chunks.count(); }
  std::size_t largest_chunk() const { return spread.count() ? spread.bytes(0) : chunks[0].bytes; }
};

// What a stage of a call does with each chunk, as it is shown: the name of a collective, or of a
// part of one.
const char* operation_of(StagePlan::Kind kind, Collective call);

// The group that works in a stage of the plan.
const LevelGroup& group_of(const AgreedLevels& agreed, const CallPlan& plan,
                           const StagePlan& stage);

// Makes the plan of a call for which `choice` was taken (its algorithm needs levels). `plan` is
// overwritten and its memory reused.
void plan_call(const AgreedLevels& agreed, const Choice& choice, const CallShape& shape,
               CallPlan& plan);

}  // namespace sumac
