// SPDX-License-Identifier: BSD-3-Clause
#include "levels/levels_run.h"

#include <utility>

namespace sumac {
namespace {

// Data read from members go into this scratch memory. It is used within one step of one strand
// only.
constexpr std::size_t kMostFetched = 1 << 20;

}  // namespace

LevelsRun::LevelsRun(Levels&& levels) : levels_(std::move(levels)) {
  SingleCopy& peers = levels_.groups[0].peers;
  peers.memory = levels_.lowest.get();
  if (!peers.memory) return;
  peers.scratch = fetched_.reserve(kMostFetched);
  peers.scratch_bytes = kMostFetched;
}

void LevelsRun::announce(const Announcement& call) {
  for (LevelGroup& level : levels_.groups) {
    if (level.up.has_memory()) level.up.list(call);
  }
  if (levels_.marks_calls) levels_.calls.add(call);
}

bool LevelsRun::run(const ChosenCall& call, const DirectTry& direct, const WaitPolicy& policy) {
  LevelsOperation& operation = begin(call, direct);
  run_together(operation.strands(), levels_.messages.get(), policy);
  end(operation);
  return operation.went_direct();
}

LevelsOperation& LevelsRun::begin(const ChosenCall& call, const DirectTry& direct) {
  if (unused_.empty()) {
    operations_.push_back(std::make_unique<LevelsOperation>(levels_));
    unused_.push_back(operations_.back().get());
    unused_.reserve(operations_.size());
  }
  LevelsOperation& operation = *std::exchange(unused_.back(), nullptr);
  unused_.pop_back();
  operation.begin(call, direct);
  return operation;
}

bool LevelsRun::progress(LevelsOperation& operation) {
  bool moved = levels_.messages && levels_.messages->poll();
  for (const auto& strand : operation.strands()) moved |= strand->progress();
  return moved;
}

void LevelsRun::end(LevelsOperation& operation) { unused_.push_back(&operation); }

void LevelsRun::forget_operations() {
  unused_.clear();
  operations_.clear();
}

Algorithm LevelsRun::choose_direct(Collective collective, std::size_t bytes,
                                   Algorithm otherwise) const {
  return levels_.choose_direct(collective, bytes, otherwise);
}

int LevelsRun::owner_of(const Counter& counter) const {
  for (const LevelGroup& level : levels_.groups) {
    for (const ShmGroup* lane : {&level.up, &level.down}) {
      const int owner = lane->owner_of(&counter);
      if (owner >= 0) return level.members[owner];
    }
  }
  return -1;
}

}  // namespace sumac
