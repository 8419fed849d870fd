// SPDX-License-Identifier: BSD-3-Clause
// The shipped rules, as data: the first row of a collective that fits ranks, bytes and capabilities
// is taken.
#pragma once

#include <cstddef>
#include <cstdint>

#include "planner/plan.h"
#include "transport/shm/layout.h"

namespace sumac {

// Whether the rule is for ranks that share processors. Then every wait is a change of context: what
// lets ranks leave early, or copy more to wait less, is better.
enum class Room { any, each_a_processor, shared };

struct Rule {
  Algorithm algorithm;
  int least_ranks, most_ranks;
  Room room;
  std::size_t most_bytes;
};

inline constexpr int kAnyRanks = 1 << 30;
inline constexpr std::size_t kAnyBytes = SIZE_MAX;

inline constexpr Rule kRules[] = {
    // All-reduce: one exchange while the redundant arithmetic is cheap, then the work is split.
    {Algorithm::allreduce_flat_lines, 2, 16, Room::any, kLinesData},
    {Algorithm::allreduce_flat_lines, 17, kAnyRanks, Room::any, 256},
    {Algorithm::allreduce_flat_slots, 2, 2, Room::any, 64 << 10},
    {Algorithm::allreduce_split_slots, 3, kAnyRanks, Room::each_a_processor, 64 << 10},
    {Algorithm::allreduce_split_slots, 2, kAnyRanks, Room::shared, 1 << 20},
    {Algorithm::allreduce_single_copy, 2, kAnyRanks, Room::any, kAnyBytes},
    {Algorithm::allreduce_split_slots, 2, kAnyRanks, Room::any, kAnyBytes},
    // Reduce: between two ranks the root alone folds while the other copies.
    {Algorithm::reduce_flat_lines, 2, kAnyRanks, Room::any, kLinesData},
    {Algorithm::reduce_flat_slots, 2, kAnyRanks, Room::shared, kAnyBytes},
    {Algorithm::reduce_flat_slots, 2, 2, Room::any, 64 << 10},
    {Algorithm::reduce_flat_slots, 3, kAnyRanks, Room::any, 8 << 10},
    {Algorithm::reduce_split_slots, 3, kAnyRanks, Room::any, 32 << 10},
    {Algorithm::reduce_single_copy, 2, kAnyRanks, Room::any, kAnyBytes},
    {Algorithm::reduce_flat_slots, 2, 2, Room::any, kAnyBytes},
    {Algorithm::reduce_split_slots, 3, kAnyRanks, Room::any, kAnyBytes},
    // Broadcast.
    {Algorithm::bcast_lines, 2, kAnyRanks, Room::any, kLinesData},
    {Algorithm::bcast_slots, 2, kAnyRanks, Room::shared, kAnyBytes},
    {Algorithm::bcast_slots, 2, kAnyRanks, Room::any, 64 << 10},
    {Algorithm::bcast_single_copy, 2, kAnyRanks, Room::any, kAnyBytes},
    {Algorithm::bcast_slots, 2, kAnyRanks, Room::any, kAnyBytes},
    {Algorithm::barrier_flat, 2, kAnyRanks, Room::any, kAnyBytes},
};

}  // namespace sumac
