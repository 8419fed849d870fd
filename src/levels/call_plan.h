// SPDX-License-Identifier: BSD-3-Clause
// The plan of a call over a hierarchy says which groups work in which stages, by which algorithms,
// and in which chunks the message goes through them. It is a function of what the ranks agreed on
// and of the call's shape, without memory or messages: a rank carries it out (levels_operation.h),
// `sumac plan` prints it, price.h prices it. An algorithm over levels is the function that makes
// such plans, in a file of its own (plans::).
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "levels/stage.h"
#include "rules/choice_table.h"

namespace sumac {

// These ranks send one another messages and are no group of a level. If there are no such ranks,
// the group has no members.
struct SendingGroup {
  LevelGroup group;
  ChoiceTable choices;
};

// The ranks of a hierarchy agreed on this. It is seen from one of them, as it takes part in it.
struct AgreedLevels {
  std::vector<LevelGroup> groups;    // the groups that this rank takes part in
  std::size_t depth = 0;             // number of levels of the hierarchy
  Capabilities whole_group;          // capabilities of the communicator
  ChoiceTable whole;                 // for the communicator
  std::vector<ChoiceTable> choices;  // indexed by level
  ChoiceTable direct;                // for the lowest level in place, if that is possible
  SendingGroup counterparts;  // ranks in the same place on every node, if multi_leader is possible
  SendingGroup all;  // all ranks, node after node, if they can send messages; flat needs it
  SendingGroup node, across;  // for the stages of all_ranks, if that is possible
  int parts = 1;              // the first ranks of a node, so many, are fast and have parts
  std::shared_ptr<const TreeOrder> order;
  int place = 0, own = 0;  // this rank's place in TreeOrder, and its number in the communicator

  // Returns the direct algorithm that the stages on the lowest level try first in a call that
  // `otherwise` serves, or native. One algorithm stands for all of these stages. It is the same on
  // all ranks of the group there.
  Algorithm choose_direct(Collective collective, std::size_t bytes, Algorithm otherwise) const;
  // Returns the place of a rank in `all`, node after node. If nodes have the same number of ranks,
  // it tells the node.
  int place_of_root(int root) const { return all.group.members.index_of(root); }
};

// A plan depends on this shape of the call, which is the same on all ranks.
struct CallShape {
  Collective collective = Collective::allreduce;
  std::size_t bytes = 0, element = 1;
  int root = 0;                  // root of reduce and broadcast, in the communicator
  const Part* listed = nullptr;  // parts of a reduce-scatter or all-gather, by rank, if unequal

  bool operator==(const CallShape&) const = default;
};

// Over levels, a barrier is an all-reduce of a word of this many bytes.
inline constexpr std::size_t kBarrierWord = 4;

struct CallPlan {
  Choice choice;  // the communicator's; `chunk` is the most bytes of a chunk
  Chunks chunks{0, kCacheLine, kCacheLine};  // the message's; multi_leader: the rank's part's
  // So many strands take chunks through all stages. 0: each stage has strands of its own.
  std::size_t strands = 0;
  int parts = 1;                 // parts of a chunk (all_ranks)
  bool hands = false;            // some chunks are handed over: is_handed() (all_ranks)
  Part first{0, 0}, last{0, 0};  // this rank's parts of the first and the last chunk (all_ranks)
  StagePlans stages;             // this rank's, in the order in which they begin
  // A reduce-scatter and an all-gather have a spread in place of chunks.
  Spread spread;

  std::size_t num_chunks() const { return spread.count() ? spread.count() : chunks.count(); }
  std::size_t largest_chunk() const { return spread.count() ? spread.bytes(0) : chunks[0].bytes; }
  // Returns the most bytes of a chunk that a stage works on, or of the rank's part of one. A rank
  // may have more of the last chunk than of the others, which are cut into fewer parts if rounding
  // up leaves nothing for the last ranks.
  std::size_t largest_piece(const StagePlan& stage) const {
    return stage.workers == Workers::across ? std::max(first.bytes, last.bytes) : largest_chunk();
  }
};

// Returns a name for what a stage of a call does with each chunk: that of a collective, or of a
// part of one.
const char* operation_of(StagePlan::Kind kind, Collective call);

// Returns the group that works in a stage.
const LevelGroup& group_of(const AgreedLevels& agreed, const StagePlan& stage);

// Makes the plan of a call for which `choice` was taken, by the function of its algorithm, which
// needs levels. `plan` is overwritten and its memory reused.
void plan_call(const AgreedLevels& agreed, const Choice& choice, const CallShape& shape,
               CallPlan& plan);

// ---- The functions that plan ----

// plans::name() makes the plans of the rows of this name that need levels. Other rows have no plan.
using PlanFn = void(const AgreedLevels& agreed, const CallShape& shape, CallPlan& plan);
struct NoPlan;
using NoPlanFn = void(NoPlan);
template <Needs needs>
using PlanOf = std::conditional_t<over_of(needs) == Over::levels, PlanFn, NoPlanFn>;
namespace plans {
#define SUMAC_ALGORITHM(collective, name, needs, order, tuned, early, description, unruled) \
  extern PlanOf<Needs::needs> name;
#include "base/algorithms.def"
#undef SUMAC_ALGORITHM
}  // namespace plans

// ---- What these functions share ----

// Cuts the message into chunks.
Chunks chunks_of(const CallShape& shape, const CallPlan& plan);

// Lists scatter, exchange and gather, for plans in which all ranks of a node work. `algorithm` is
// that of all three, as long as no other one is chosen for them.
void list_around_exchange(Workers within, Workers between, Algorithm algorithm, StagePlans& stages);

// Chooses how the group of a stage serves `count` chunks of at most `largest` bytes, by the group's
// table. `shared` says that the group shares memory.
struct ChunkSizes {
  std::size_t largest, count;
};
void choose(const ChoiceTable& table, bool shared, Collective collective, const ChunkSizes& chunks,
            StagePlan& stage);

}  // namespace sumac
