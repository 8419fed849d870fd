// SPDX-License-Identifier: BSD-3-Clause
#include "planner/start_level.h"

#include <cstdlib>

namespace sumac {
namespace {

// Shared memory: reductions use a level's lane up, broadcasts the one down.
using SharedReduction = Task (*)(Strand&, ShmGroup&, const ReduceArguments&);
using SharedBcast = Task (*)(Strand&, ShmGroup&, const BcastArguments&);
using MessageReduction = Task (*)(Strand&, MessageGroup&, const ReduceArguments&);
using MessageBcast = Task (*)(Strand&, MessageGroup&, const BcastArguments&);

template <SharedReduction algorithm>
Task shared(Strand& strand, LevelGroup& level, MessageGroup&, const ReduceArguments& args) {
  return algorithm(strand, level.up, args);
}
template <SharedBcast algorithm>
Task shared(Strand& strand, LevelGroup& level, MessageGroup&, const BcastArguments& args) {
  return algorithm(strand, level.down, args);
}
template <MessageReduction algorithm>
Task messages(Strand& strand, LevelGroup&, MessageGroup& group, const ReduceArguments& args) {
  return algorithm(strand, group, args);
}
template <MessageBcast algorithm>
Task messages(Strand& strand, LevelGroup&, MessageGroup& group, const BcastArguments& args) {
  return algorithm(strand, group, args);
}

}  // namespace

StartReduction reduction_on_level(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::allreduce_flat_lines:
      return shared<allreduce::flat_lines>;
    case Algorithm::allreduce_flat_slots:
      return shared<allreduce::flat_slots>;
    case Algorithm::allreduce_split_slots:
      return shared<allreduce::split_slots>;
    case Algorithm::allreduce_recursive_doubling:
      return messages<allreduce::recursive_doubling>;
    case Algorithm::allreduce_rabenseifner:
      return messages<allreduce::rabenseifner>;
    case Algorithm::allreduce_ring:
      return messages<allreduce::ring>;
    case Algorithm::allreduce_knomial:
      return messages<allreduce::knomial>;
    case Algorithm::allreduce_native:
      return messages<allreduce::native>;
    case Algorithm::reduce_flat_lines:
      return shared<reduce::flat_lines>;
    case Algorithm::reduce_flat_slots:
      return shared<reduce::flat_slots>;
    case Algorithm::reduce_split_slots:
      return shared<reduce::split_slots>;
    case Algorithm::reduce_knomial:
      return messages<reduce::knomial>;
    case Algorithm::reduce_chain:
      return messages<reduce::chain>;
    default:
      std::abort();  // no plan of a level chooses anything else
  }
}

StartBcast bcast_on_level(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::bcast_lines:
      return shared<bcast::lines>;
    case Algorithm::bcast_slots:
      return shared<bcast::slots>;
    case Algorithm::bcast_knomial:
      return messages<bcast::knomial>;
    case Algorithm::bcast_chain:
      return messages<bcast::chain>;
    default:
      std::abort();
  }
}

}  // namespace sumac
