// SPDX-License-Identifier: BSD-3-Clause
// Which stages a rank has. Broadcast: the data go from the root through its own groups upwards, and
// down in all others; a rank gets each chunk on exactly one level, that of its group in which the
// root is not beneath itself, and passes it on in its other levels. Reduce is the same with every
// arrow turned round: a rank folds what its other levels bring, lowest first, and sends on that one
// level. All-reduce goes up to the leaders, is exchanged among those of the last level, and comes
// down.
#include "algorithms/levels/stage.h"

namespace sumac {
namespace {

// Who of the level's group the data of `root` come through.
int entry(const LevelGroup& level, int root) {
  const int member = level.member_towards[static_cast<std::size_t>(root)];
  return member >= 0 ? member : level.leader;
}

// A group of one has nothing to do.
void add(Operation& operation, Stage::Kind kind, LevelGroup& level, int root) {
  if (level.size == 1) return;
  Stage& stage = operation.stages[operation.num_stages++];
  stage.kind = kind;
  stage.level = &level;
  stage.root = root;
  stage.first = false;
  stage.after = nullptr;
  stage.room = nullptr;
  stage.passive = false;
}

bool passes_on(const Stage& stage) { return stage.level->rank == stage.root; }

}  // namespace

void plan_allreduce(std::vector<LevelGroup>& levels, std::size_t depth, Operation& operation) {
  operation.num_stages = 0;
  operation.bcast = {operation.reduction.output, operation.reduction.bytes(), 0};
  const bool at_top = levels.size() == depth;
  const std::size_t below = at_top ? depth - 1 : levels.size();
  for (std::size_t i = 0; i < below; ++i) {
    add(operation, Stage::Kind::reduce, levels[i], levels[i].leader);
  }
  if (at_top) add(operation, Stage::Kind::exchange, levels.back(), 0);
  for (std::size_t i = below; i-- > 0;) {
    add(operation, Stage::Kind::bcast, levels[i], levels[i].leader);
  }
  Stage* const stages = operation.stages.get();
  stages[0].first = true;
  // What the stages on the way down wait for: the exchange, or the level where the result comes in.
  const Progress* source = nullptr;
  for (std::size_t i = 0; i < operation.num_stages; ++i) {
    const bool down = stages[i].kind == Stage::Kind::bcast;
    if (!down && i > 0) stages[i].after = &stages[i - 1].done;
    if (down && passes_on(stages[i])) stages[i].after = source;
    if (stages[i].kind == Stage::Kind::exchange || (down && !passes_on(stages[i]))) {
      source = &stages[i].done;
    }
  }
}

void plan_reduce(std::vector<LevelGroup>& levels, int root, Operation& operation) {
  operation.num_stages = 0;
  operation.bcast = {};
  for (int sending = 0; sending < 2; ++sending) {
    for (LevelGroup& level : levels) {
      const int target = entry(level, root);
      if ((level.rank != target) == (sending == 1)) {
        add(operation, Stage::Kind::reduce, level, target);
      }
    }
  }
  Stage* const stages = operation.stages.get();
  const std::size_t last = operation.num_stages - 1;
  stages[0].first = true;
  for (std::size_t i = 1; i <= last; ++i) stages[i].after = &stages[i - 1].done;
  // Without an output of its own a rank keeps a few chunks until it has sent them.
  if (!operation.reduction.output && last > 0) stages[0].room = &stages[last].done;
}

void plan_bcast(std::vector<LevelGroup>& levels, int root, Operation& operation) {
  operation.num_stages = 0;
  for (int passing_on = 0; passing_on < 2; ++passing_on) {
    for (std::size_t i = levels.size(); i-- > 0;) {
      const int source = entry(levels[i], root);
      if ((levels[i].rank == source) == (passing_on == 1)) {
        add(operation, Stage::Kind::bcast, levels[i], source);
      }
    }
  }
  Stage* const stages = operation.stages.get();
  const bool is_root = passes_on(stages[0]);
  for (std::size_t i = 1; i < operation.num_stages && !is_root; ++i) {
    stages[i].after = &stages[0].done;
  }
}

void make_passive(std::vector<LevelGroup>& levels, Operation& operation) {
  LevelGroup& lowest = levels[0];
  if (!lowest.shared || !lowest.peers.memory) return;
  for (std::size_t i = 0; i < operation.num_stages; ++i) {
    Stage& stage = operation.stages[i];
    if (stage.level == &lowest && stage.kind != Stage::Kind::exchange) {
      stage.passive = stage.root == lowest.leader;
    }
  }
  // A member has nothing to do but to wait, once.
  if (operation.stages[0].passive && lowest.rank != lowest.leader) operation.num_stages = 1;
}

}  // namespace sumac
