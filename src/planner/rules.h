// SPDX-License-Identifier: BSD-3-Clause
// The shipped rules, as data: the first row of a collective that fits ranks, bytes and capabilities
// is taken.
#pragma once

#include <cstddef>
#include <cstdint>

#include "planner/plan.h"
#include "transport/shm/layout.h"

namespace sumac {

struct Rule {
  Algorithm algorithm;
  int least_ranks, most_ranks;
  std::size_t most_bytes;
};

inline constexpr int kAnyRanks = 1 << 30;
inline constexpr std::size_t kAnyBytes = SIZE_MAX;

inline constexpr Rule kRules[] = {
    // All-reduce: one exchange while the redundant arithmetic is cheap, then the work is split.
    {Algorithm::allreduce_flat_lines, 2, 16, kLinesData},
    {Algorithm::allreduce_flat_lines, 17, kAnyRanks, 256},
    {Algorithm::allreduce_flat_slots, 2, 2, 16 << 10},
    {Algorithm::allreduce_split_slots, 3, kAnyRanks, 64 << 10},
    {Algorithm::allreduce_single_copy, 2, kAnyRanks, kAnyBytes},
    {Algorithm::allreduce_split_slots, 2, kAnyRanks, kAnyBytes},
    // Reduce: between two ranks the root alone folds while the other copies.
    {Algorithm::reduce_flat_lines, 2, kAnyRanks, kLinesData},
    {Algorithm::reduce_flat_slots, 2, 2, 64 << 10},
    {Algorithm::reduce_flat_slots, 3, kAnyRanks, 8 << 10},
    {Algorithm::reduce_split_slots, 3, kAnyRanks, 32 << 10},
    {Algorithm::reduce_single_copy, 2, kAnyRanks, kAnyBytes},
    {Algorithm::reduce_flat_slots, 2, 2, kAnyBytes},
    {Algorithm::reduce_split_slots, 3, kAnyRanks, kAnyBytes},
    // Broadcast.
    {Algorithm::bcast_lines, 2, kAnyRanks, kLinesData},
    {Algorithm::bcast_slots, 2, kAnyRanks, 8 << 10},
    {Algorithm::bcast_single_copy, 2, kAnyRanks, kAnyBytes},
    {Algorithm::bcast_slots, 2, kAnyRanks, kAnyBytes},
    {Algorithm::barrier_flat, 2, kAnyRanks, kAnyBytes},
};

}  // namespace sumac
