// SPDX-License-Identifier: BSD-3-Clause
#include "strands/together.h"

namespace sumac {
namespace {

// Polls and advances everything once. `going` becomes false when all strands have ended.
bool progress_all(const Strands& strands, Pollable* outside, bool& going) {
  bool moved = outside && outside->poll();
  going = false;
  for (const auto& strand : strands) {
    moved |= strand->progress();
    going |= !strand->idle();
  }
  return moved;
}

}  // namespace

void run_together(const Strands& strands, Pollable* outside, const WaitPolicy& policy) {
  for (bool going = true; going;) {
    Waiting waiting(policy);
    while (!progress_all(strands, outside, going) && going) {
      waiting.step(!outside || !outside->busy());
    }
  }
}

}  // namespace sumac
