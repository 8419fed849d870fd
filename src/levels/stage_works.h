// SPDX-License-Identifier: BSD-3-Clause
// Several plans use these ways to do the chunks of a stage.
#pragma once

#include "levels/stage.h"

namespace sumac {

// A group carries out one algorithm on each chunk, which is a piece of the caller's vector
// (whole_chunks.cc); or on a chunk that has parts of all ranks, which the rank keeps
// (parts_stage.cc); or the leader serves the members, which only wait (passive.cc).
extern const StageWork kWholeChunks, kPartsOfChunks, kPassive;

// Returns what the first of these costs.
Traffic price_whole_chunks(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
                           const CallShape& shape);

// Returns true if a level may take the algorithm. None of these reaches a peer's memory: passive
// levels are the single copy of levels, and algorithms in place are tried before (direct_level.h).
bool serves_level(Algorithm algorithm);

// Starts the algorithm of a stage on the arguments of `worker`.
Task start_on_level(Strand& strand, const Stage& stage, Worker& worker);

}  // namespace sumac
