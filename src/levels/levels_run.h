// SPDX-License-Identifier: BSD-3-Clause
// One rank uses a communicator's hierarchy through this class: its levels, the choices for each,
// and the operations under way. The same code serves any depth and any mixture of shared memory and
// messages.
#pragma once

#include <memory>
#include <vector>

#include "levels/levels_operation.h"

namespace sumac {

class LevelsRun {
 public:
  // Takes the hierarchy as set-up has filled it.
  explicit LevelsRun(Levels&& levels);
  LevelsRun(const LevelsRun&) = delete;
  LevelsRun& operator=(const LevelsRun&) = delete;

  // Announces the next operation to the ranks that share memory with this one in a level, as
  // ShmGroup::announce() does. Without that, operations are carried out all the same.
  void announce(const Announcement& call);
  // Calls visit(group, members) for each level's group in shared memory in which calls are listed.
  // `members` are the communicator's ranks.
  template <class Visit>
  void for_each_listing(Visit visit) const {
    for (const LevelGroup& level : levels_.groups) {
      if (level.up.has_memory()) visit(level.up, level.members);
    }
  }

  // Runs a call to its end. Returns whether it went direct.
  bool run(const ChosenCall& call, const DirectTry& direct, const WaitPolicy& policy);

  // Begins an operation, which the caller advances by progress() and returns by end() once it has
  // ended. All ranks begin the same operations in the same order.
  LevelsOperation& begin(const ChosenCall& call, const DirectTry& direct);
  // Advances every strand as far as it gets, and messages. Returns true if anything moved.
  bool progress(LevelsOperation& operation);
  void end(LevelsOperation& operation);
  // Frees what operations keep for the next ones: scratch memory and plans. None may be under way.
  void forget_operations();

  const ChoiceTable& choices() const { return levels_.whole; }
  // Returns the direct algorithm that is tried on the lowest level of a call that `otherwise`
  // serves, or native. It is the same on all ranks of this rank's group there, but not on all
  // ranks.
  Algorithm choose_direct(Collective collective, std::size_t bytes, Algorithm otherwise) const;
  const AgreedLevels& agreed() const { return levels_; }
  Messages* messages() const { return levels_.messages.get(); }
  const std::shared_ptr<PeerMemory>& lowest() const { return levels_.lowest; }
  const std::shared_ptr<Messages>& shared_messages() const { return levels_.messages; }

  // Calls visit(rank) with the communicator ranks whose counters are waited for in shared memory.
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
  Scratch fetched_;  // data read from members' memory
  std::vector<std::unique_ptr<LevelsOperation>> operations_;
  std::vector<LevelsOperation*> unused_;  // operations_ that are not in use
};

}  // namespace sumac
