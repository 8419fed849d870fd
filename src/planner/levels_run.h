// SPDX-License-Identifier: BSD-3-Clause
// A communicator's hierarchy in use by one rank: its levels, what is chosen for each, and the
// operation going on. The same texts over any depth and mixture of shared memory and messages.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "algorithms/levels/multi_leader.h"
#include "algorithms/levels/stage.h"
#include "planner/plan.h"

namespace sumac {

// Memory for messages being reduced. Grows, and is never smaller again.
class Scratch {
 public:
  // At least `bytes`, aligned to cache lines. Aborts the process without memory: peers wait for it.
  std::byte* reserve(std::size_t bytes);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t bytes_ = 0;
};

// The ranks of the same place on every node, where multi_leader is possible, else none.
struct Counterparts {
  std::vector<int> ranks;  // of the communicator
  PlanTable plans;         // of such a group
};

class LevelsRun {
 public:
  // `whole` for the communicator, `plans` by level. Where all levels share memory `messages` may be
  // null; `lowest` reaches the members of this rank's group on the lowest level, or is null.
  LevelsRun(std::vector<LevelGroup> levels, std::size_t depth, const PlanTable& whole,
            std::vector<PlanTable> plans, Counterparts counterparts, int rank,
            std::unique_ptr<Messages> messages, std::unique_ptr<PeerMemory> lowest);

  void allreduce(const ReduceArguments& args, const Choice& choice, const WaitPolicy& policy);
  void reduce(const ReduceArguments& args, const Choice& choice, const WaitPolicy& policy);
  void bcast(const BcastArguments& args, const Choice& choice, const WaitPolicy& policy);

  const PlanTable& plans() const { return whole_; }
  Messages* messages() const { return messages_.get(); }
  // A member's memory could not be reached: results are undefined.
  bool failed() const { return failed_; }

  // Calls visit(rank) with communicator ranks that own what is waited for in shared memory.
  template <class Visit>
  void for_each_missing(Visit visit) const {
    for (const auto& strand : strands_) {
      if (strand->idle()) continue;
      strand->waiting_for().for_each_missing([&](const Counter& counter) {
        const int rank = owner_of(counter);
        if (rank >= 0) visit(rank);
      });
    }
  }

 private:
  void cut(std::size_t bytes, std::size_t element, const Choice& choice);
  void run_stages(const Choice& choice, const WaitPolicy& policy);
  void choose(Stage& stage, std::size_t bytes);
  void run_multi_leader(const ReduceArguments& args, const Choice& choice,
                        const WaitPolicy& policy);
  Strand& strand(std::size_t number);
  Stream& stream(std::size_t tag);
  MessageGroup group_of(const std::vector<int>& members, int rank, std::size_t tag);
  // Gives each group its part of the scratch, for messages of at most `largest` bytes.
  void share_scratch(MessageGroup* groups, std::size_t count, std::size_t largest);

  int owner_of(const Counter& counter) const;

  std::vector<LevelGroup> levels_;
  std::size_t depth_;
  PlanTable whole_;
  std::vector<PlanTable> plans_;
  Counterparts counterparts_;
  int counterpart_ = 0;  // this rank's place among them
  std::unique_ptr<Messages> messages_;
  std::unique_ptr<PeerMemory> lowest_;
  bool failed_ = false;
  Operation operation_;
  MultiLeader multi_leader_;
  Strands strands_;             // made when first needed
  std::deque<Stream> streams_;  // by tag
  Scratch scratch_;
};

}  // namespace sumac
