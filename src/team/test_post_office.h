// SPDX-License-Identifier: BSD-3-Clause
// For tests: a communicator of ranks that are threads of this process, with a hierarchy, shared
// blocks for its groups and a post office for messages.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/test_support.h"
#include "planner/levels_run.h"
#include "planner/rules.h"

namespace sumac::testing {

// What is under way between all ranks, and the bytes sent so far: bytes(from, to).
class PostOffice {
 public:
  // The sender's until `done`: as eager messages are copied when they are sent or a little later,
  // and others only once they are fetched.
  struct Letter {
    const std::byte* from = nullptr;
    std::size_t bytes = 0;
    bool may_copy = false, done = false;
    std::vector<std::byte> copy;

    void copy_now() {
      copy.assign(from, from + bytes);
      from = copy.data();
      done = true;
    }
  };
  // The MPI's own all-reduce: complete when all have given their part.
  struct Collected {
    std::map<int, std::vector<std::byte>> parts;  // by rank
  };
  struct Key {
    int from, to, tag;
    auto operator<=>(const Key&) const = default;
  };

  std::mutex mutex;  // for everything here
  std::map<Key, std::deque<std::shared_ptr<Letter>>> letters;
  std::map<std::pair<int, int>, std::size_t> bytes;
  std::deque<Collected> collected;  // by number
  std::size_t leaders = 0;          // who take part in it
};

// One rank's messages.
class PostedMessages final : public Messages {
 public:
  PostedMessages(PostOffice& office, int rank, unsigned seed)
      : office_(office), rank_(rank), random_(seed) {}

  void send(Stream& stream, int peer, const std::byte* from, std::size_t bytes) override {
    ++stream.sends;
    auto letter = std::make_shared<PostOffice::Letter>();
    letter->from = from;
    letter->bytes = bytes;
    letter->may_copy = random_() % 2;
    if (letter->may_copy && random_() % 2) letter->copy_now();
    sends_.push_back({&stream, letter});
    const std::lock_guard<std::mutex> lock(office_.mutex);
    office_.letters[{rank_, peer, stream.tag}].push_back(letter);
    office_.bytes[{rank_, peer}] += bytes;
  }
  void receive(Stream& stream, int peer, std::byte* to, std::size_t bytes) override {
    ++stream.receives;
    receives_.push_back({&stream, peer, to, bytes});
  }
  void native_allreduce(Stream& stream, const ReduceArguments& args) override {
    ++stream.receives;
    const std::lock_guard<std::mutex> lock(office_.mutex);
    while (office_.collected.size() <= number_) office_.collected.emplace_back();
    office_.collected[number_].parts[rank_].assign(args.input, args.input + args.bytes());
    natives_.push_back({&stream, number_++, args});
  }
  bool poll() override {
    const std::lock_guard<std::mutex> lock(office_.mutex);
    const bool sent = std::erase_if(sends_, [&](Send& send) { return try_send(send); }) > 0;
    // Not always everything that is there.
    const bool slow = random_() % 4 == 0;
    bool moved = sent;
    for (auto it = receives_.begin(); it != receives_.end();) {
      if (slow && random_() % 2) break;
      const bool got = try_receive(*it);
      it = got ? receives_.erase(it) : it + 1;
      moved |= got;
    }
    return std::erase_if(natives_, [&](Native& native) { return try_native(native); }) > 0 || moved;
  }
  bool busy() const override { return !sends_.empty() || !receives_.empty() || !natives_.empty(); }

 private:
  struct Send {
    Stream* stream;
    std::shared_ptr<PostOffice::Letter> letter;
  };
  struct Receive {
    Stream* stream;
    int peer;
    std::byte* to;
    std::size_t bytes;
  };
  struct Native {
    Stream* stream;
    std::size_t number;
    ReduceArguments args;
  };

  bool try_send(Send& send) {
    if (!send.letter->done && send.letter->may_copy && random_() % 2) send.letter->copy_now();
    if (send.letter->done) publish(send.stream->sent, send.stream->sent.load() + 1);
    return send.letter->done;
  }
  bool try_receive(Receive& receive) {
    auto& box = office_.letters[{receive.peer, rank_, receive.stream->tag}];
    if (box.empty()) return false;
    PostOffice::Letter& letter = *box.front();
    if (letter.bytes != receive.bytes) std::abort();  // the two do not mean the same message
    std::memcpy(receive.to, letter.from, letter.bytes);
    letter.done = true;
    box.pop_front();
    publish(receive.stream->received, receive.stream->received.load() + 1);
    return true;
  }
  bool try_native(Native& native) {
    const auto& parts = office_.collected[native.number].parts;
    if (parts.size() < office_.leaders) return false;
    if (parts.size() > office_.leaders) std::abort();  // somebody who is no leader
    const std::byte* result = parts.begin()->second.data();
    for (auto part = std::next(parts.begin()); part != parts.end(); ++part) {
      if (part->second.size() != native.args.bytes()) std::abort();
      const void* sources[] = {result, part->second.data()};
      native.args.kernel(native.args.output, sources, 2, native.args.count);
      result = native.args.output;
    }
    publish(native.stream->received, native.stream->received.load() + 1);
    return true;
  }

  PostOffice& office_;
  int rank_;
  std::mt19937 random_;
  std::size_t number_ = 0;
  std::vector<Send> sends_;
  std::vector<Receive> receives_;
  std::vector<Native> natives_;
};

inline bool needs_messages(const Hierarchy& hierarchy) {
  for (const HierarchyLevel& level : hierarchy.levels) {
    for (const Group& group : level.groups) {
      if (!group.one_node && group.members.size() > 1) return true;
    }
  }
  return false;
}

// Nodes of the same number of ranks, and one level of messages between them.
inline bool has_equal_nodes(const Hierarchy& hierarchy, const std::vector<Place>& places) {
  bool equal = hierarchy.levels.size() == 2 && !hierarchy.levels[1].groups[0].one_node;
  for (const Place& place : places) equal &= !place.slow;
  for (const Group& group : hierarchy.levels[0].groups) {
    equal &= group.one_node && group.members.size() == hierarchy.levels[0].groups[0].members.size();
  }
  return equal;
}

// What is decided before there are ranks.
struct Setting {
  std::vector<Place> places;
  Hierarchy hierarchy;
  RuleSet rules;
  std::string forced;
  bool oversubscribed = false;
  std::size_t slot_bytes = 1024;
  unsigned seed = 0;

  int ranks() const { return static_cast<int>(places.size()); }
  PlanTable plan_of(int members, bool shared) const {
    Capabilities capabilities;
    capabilities.ranks = members;
    capabilities.over = shared ? Over::shm : Over::p2p;
    capabilities.oversubscribed = oversubscribed;
    capabilities.within_levels = true;
    return PlanTable(rules, capabilities, forced.c_str());
  }
  PlanTable plan_of_all() const {
    Capabilities capabilities;
    capabilities.ranks = ranks();
    capabilities.over = Over::levels;
    capabilities.single_copy = true;
    capabilities.oversubscribed = oversubscribed;
    std::map<std::uint64_t, int> nodes;
    for (const Place& place : places) ++nodes[place.node];
    capabilities.nodes = static_cast<int>(nodes.size());
    capabilities.equal_nodes = has_equal_nodes(hierarchy, places);
    return PlanTable(rules, capabilities, forced.c_str());
  }
};

// All ranks of a communicator, as its set-up leaves them. Each is for one thread.
class ThreadRanks {
 public:
  explicit ThreadRanks(const Setting& setting) {
    std::vector<std::vector<LevelGroup>> levels;
    for (int r = 0; r < setting.ranks(); ++r) {
      levels.push_back(levels_of(setting.hierarchy, r, setting.ranks()));
    }
    for (std::size_t l = 0; l < setting.hierarchy.levels.size(); ++l) {
      for (const Group& group : setting.hierarchy.levels[l].groups) {
        if (group.one_node && group.members.size() > 1) share(group, l, setting, levels);
      }
    }
    office_.leaders = setting.hierarchy.levels.back().groups[0].members.size();
    for (int r = 0; r < setting.ranks(); ++r) {
      add(setting, r, std::move(levels[static_cast<std::size_t>(r)]));
    }
  }

  LevelsRun& operator[](int rank) { return *runs_[static_cast<std::size_t>(rank)]; }
  // For looking at when no thread runs.
  PostOffice& office() { return office_; }

 private:
  void share(const Group& group, std::size_t level, const Setting& setting,
             std::vector<std::vector<LevelGroup>>& levels) {
    Layout layout;
    layout.ranks = static_cast<int>(group.members.size());
    layout.lanes = 2;
    layout.slot_bytes = setting.slot_bytes;
    const TestBlock& block = blocks_.emplace_back(layout);
    for (int member : group.members) {
      LevelGroup& own = levels[static_cast<std::size_t>(member)][level];
      own.block = block.data();
      own.up = block.group(own.rank, 0);
      own.down = block.group(own.rank, 1);
    }
  }

  void add(const Setting& setting, int rank, std::vector<LevelGroup> levels) {
    Levels all;
    for (const LevelGroup& level : levels) {
      all.plans.push_back(setting.plan_of(level.size, level.shared));
    }
    Counterparts& peers = all.counterparts;
    if (has_equal_nodes(setting.hierarchy, setting.places)) {
      for (const Group& group : setting.hierarchy.levels[0].groups) {
        peers.ranks.push_back(group.members[static_cast<std::size_t>(levels[0].rank)]);
      }
      peers.plans = setting.plan_of(static_cast<int>(peers.ranks.size()), false);
      peers.own = static_cast<int>(std::find(peers.ranks.begin(), peers.ranks.end(), rank) -
                                   peers.ranks.begin());
    }
    if (needs_messages(setting.hierarchy)) {
      const unsigned seed = setting.seed * 64 + static_cast<unsigned>(rank);
      all.messages = std::make_unique<PostedMessages>(office_, rank, seed);
    }
    all.groups = std::move(levels);
    all.depth = setting.hierarchy.levels.size();
    all.whole = setting.plan_of_all();
    all.lowest = std::make_unique<LocalPeerMemory>();
    runs_.push_back(std::make_unique<LevelsRun>(std::move(all)));
  }

  PostOffice office_;
  std::vector<TestBlock> blocks_;
  std::vector<std::unique_ptr<LevelsRun>> runs_;
};

}  // namespace sumac::testing
