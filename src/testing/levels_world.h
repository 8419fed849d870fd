// SPDX-License-Identifier: BSD-3-Clause
// All ranks of a hierarchy are in one process and one thread, with shared blocks, a post office for
// messages, and a scheduler that may stop any strand of any rank at every condition.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "levels/levels_operation.h"
#include "testing/one_process.h"
#include "testing/post_office.h"

namespace sumac::testing {

struct LevelsRank {
  Levels levels;
  std::unique_ptr<LevelsOperation> operation;  // made by tests that have operations over levels
  CallPlan plan;
  std::shared_ptr<PostedMessages> messages;
  std::map<int, std::unique_ptr<Stream>> streams;  // indexed by tag
  std::vector<std::vector<std::byte>> scratch;
  LocalPeerMemory lowest;
  std::vector<std::byte> fetched;
  Strands own_strands;                        // used by tests that have no operation
  std::deque<std::function<void()>> program;  // each starts one operation

  const Strands& strands() const { return operation ? operation->strands() : own_strands; }
  // Returns true while anything is left to do. Starts the next operation as soon as the last has
  // ended.
  bool going() {
    while (ended() && !program.empty()) {
      program.front()();
      program.pop_front();
    }
    return !ended();
  }
  bool ended() const {
    for (const auto& strand : strands()) {
      if (!strand->idle()) return false;
    }
    return !messages->busy();
  }
  // Runs one strand to its next condition, or moves messages.
  bool step(std::mt19937& random) {
    if (!going()) return false;
    if (random() % 4 == 0 && messages->poll()) return true;
    Strand& strand = *strands()[random() % strands().size()];
    if (strand.idle()) return false;
    Wait wait = strand.waiting_for();
    if (!wait.ready()) return false;
    strand.advance();
    return true;
  }
  bool step_any() {
    if (!going()) return false;
    bool moved = messages->poll();
    for (const auto& strand : strands()) moved |= strand->progress();
    return moved;
  }
};

class LevelsWorld {
 public:
  LevelsWorld(const Hierarchy& hierarchy, int ranks, std::size_t slot_bytes, unsigned seed)
      : random_(seed),
        depth_(hierarchy.levels.size()),
        order_(std::make_shared<const TreeOrder>(tree_order(hierarchy, ranks))) {
    for (int r = 0; r < ranks; ++r) {
      auto rank = std::make_unique<LevelsRank>();
      Levels& levels = rank->levels;
      levels.groups = levels_of(hierarchy, *order_, r);
      levels.choices.resize(levels.groups.size());
      levels.depth = depth_;
      levels.order = order_;
      levels.place = order_->ranks.index_of(r);
      levels.own = r;
      levels.stops_at_every_wait = true;
      rank->messages = std::make_shared<PostedMessages>(office_, r, random_());
      levels.messages = rank->messages;
      rank->fetched.resize(4096);
      levels.groups[0].peers = {&rank->lowest, rank->fetched.data(), rank->fetched.size()};
      ranks_.push_back(std::move(rank));
    }
    // The slots of every other group are larger, since hosts differ in how much memory they have to
    // share.
    std::size_t groups = 0;
    for (std::size_t l = 0; l < depth_; ++l) {
      for (const Group& group : hierarchy.levels[l].groups) {
        if (group.one_node) share(group, l, slot_bytes << groups++ % 2);
      }
    }
  }

  LevelsRank& operator[](int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
  int size() const { return static_cast<int>(ranks_.size()); }
  const PostOffice& office() const { return office_; }

  // Returns the group of one strand of a rank, for messages of at most `largest` bytes.
  MessageGroup message_group(LevelsRank& rank, const RankList& members, int place, int tag,
                             std::size_t largest) {
    auto& stream = rank.streams[tag];
    if (!stream) stream = std::make_unique<Stream>();
    stream->tag = tag;
    rank.scratch.emplace_back(message_scratch(members.size(), largest));
    MessageGroup group;
    group.messages = rank.messages.get();
    group.stream = stream.get();
    group.members = &members;
    group.rank = place;
    group.size = members.size();
    group.scratch = rank.scratch.back().data();
    group.scratch_bytes = rank.scratch.back().size();
    return group;
  }

  // Returns the number of ranks whose last operation went direct on their lowest level.
  long went_direct() const {
    return std::count_if(ranks_.begin(), ranks_.end(),
                         [](const auto& rank) { return rank->operation->went_direct(); });
  }
  // Returns false if all ranks wait for one another.
  bool run() {
    for (unsigned quiet = 0; quiet < 4000;) {
      LevelsRank& rank = *ranks_[random_() % ranks_.size()];
      quiet = rank.step(random_) ? 0 : quiet + 1;
      if (quiet == 3999 && step_all()) quiet = 0;
    }
    for (auto& rank : ranks_) {
      if (rank->going()) return false;
    }
    return true;
  }

 private:
  bool step_all() {
    bool moved = false;
    for (auto& rank : ranks_) moved |= rank->step_any();
    return moved;
  }

  void share(const Group& group, std::size_t level, std::size_t slot_bytes) {
    const int ranks = static_cast<int>(group.members.size());
    const TestBlock& block = blocks_.emplace_back(ranks, Layout().ring, slot_bytes, 2);
    for (int member : group.members) {
      LevelGroup& own = (*this)[member].levels.groups[level];
      own.up = block.group(own.rank, 0);
      own.down = block.group(own.rank, 1);
    }
  }

  std::mt19937 random_;
  std::size_t depth_;
  std::shared_ptr<const TreeOrder> order_;
  PostOffice office_;
  std::vector<TestBlock> blocks_;
  std::vector<std::unique_ptr<LevelsRank>> ranks_;
};

}  // namespace sumac::testing
