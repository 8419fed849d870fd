// SPDX-License-Identifier: BSD-3-Clause
// A communicator's hierarchy in use by one rank: its levels, what is chosen for each, and the
// operations under way. The same texts over any depth and mixture of shared memory and messages.
#pragma once

#include <memory>
#include <vector>

#include "planner/levels_operation.h"

namespace sumac {

class LevelsRun {
 public:
  // `levels.groups` to `levels.lowest` as the set-up has them.
  explicit LevelsRun(Levels levels);
  LevelsRun(const LevelsRun&) = delete;
  LevelsRun& operator=(const LevelsRun&) = delete;

  // To its end.
  void run(const LevelsCall& call, const WaitPolicy& policy);

  // Begins an operation that is then to be looked at now and then, and to be returned once it has
  // ended. All ranks begin the same ones in the same order.
  LevelsOperation& begin(const LevelsCall& call);
  // Every strand as far as it gets, and messages on their way; true when anything moved.
  bool progress(LevelsOperation& operation);
  void end(LevelsOperation& operation);

  const PlanTable& plans() const { return levels_.whole; }
  const AgreedLevels& agreed() const { return levels_; }
  Messages* messages() const { return levels_.messages.get(); }
  const std::shared_ptr<Messages>& shared_messages() const { return levels_.messages; }
  // A member's memory could not be reached: results are undefined.
  bool failed() const { return levels_.failed; }

  // Calls visit(rank) with communicator ranks that own what is waited for in shared memory.
  template <class Visit>
  void for_each_missing(Visit visit) const {
    for (const auto& operation : operations_) {
      for (const auto& strand : operation->strands()) {
        if (strand->idle()) continue;
        strand->waiting_for().for_each_missing([&](const Counter& counter) {
          const int rank = owner_of(counter);
          if (rank >= 0) visit(rank);
        });
      }
    }
  }

 private:
  int owner_of(const Counter& counter) const;

  Levels levels_;
  Scratch fetched_;  // from members' memory
  std::vector<std::unique_ptr<LevelsOperation>> operations_;
  std::vector<LevelsOperation*> unused_;  // of them
};

}  // namespace sumac
