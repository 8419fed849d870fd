// SPDX-License-Identifier: BSD-3-Clause
#include "planner/start.h"

namespace sumac {

Task start_reduction(Algorithm algorithm, Strand& strand, ShmGroup& group,
                     const ReduceArguments& args, const SingleCopy& peers) {
  switch (algorithm) {
    case Algorithm::allreduce_flat_lines:
      return allreduce::flat_lines(strand, group, args);
    case Algorithm::allreduce_flat_slots:
      return allreduce::flat_slots(strand, group, args);
    case Algorithm::allreduce_split_slots:
      return allreduce::split_slots(strand, group, args);
    case Algorithm::allreduce_single_copy:
      return allreduce::single_copy(strand, group, args, peers);
    case Algorithm::reduce_flat_lines:
      return reduce::flat_lines(strand, group, args);
    case Algorithm::reduce_split_slots:
      return reduce::split_slots(strand, group, args);
    case Algorithm::reduce_single_copy:
      return reduce::single_copy(strand, group, args, peers);
    default:
      return reduce::flat_slots(strand, group, args);
  }
}

Task start_bcast(Algorithm algorithm, Strand& strand, ShmGroup& group, const BcastArguments& args,
                 const SingleCopy& peers) {
  if (algorithm == Algorithm::bcast_single_copy) {
    return bcast::single_copy(strand, group, args, peers);
  }
  if (algorithm == Algorithm::bcast_lines) return bcast::lines(strand, group, args);
  return bcast::slots(strand, group, args);
}

}  // namespace sumac
