// SPDX-License-Identifier: BSD-3-Clause
// The collectives under way on one communicator, in the order in which they were called. Each waits
// only for what was called before it and for other ranks to call the same, so whoever looks at the
// queue often enough, on every rank, brings all of it to its end.
#pragma once

#include <atomic>

#include "engine/lock.h"
#include "progress/work.h"

namespace sumac {

class Engine;

// Once watched by an engine.
class WorkQueue {
 public:
  // So many are begun at the same time: as many as a ring of slots has places. Over levels fewer,
  // for each has strands and scratch of its own.
  static constexpr int kMostInGroup = 8, kMostOverLevels = 4;

  // Adds what `ranks` are to do, and begins it if there is room. Stays as it is until it has ended.
  // One thread at a time calls collectives on a communicator, as MPI has it.
  void add(Work& work, const Ranks& ranks, bool overlaps);

  // Looks at all that is begun; true when anything moved. At most one thread at a time: others, and
  // calls from within this one, return at once.
  bool progress();

  // Nothing is left, and the group is its caller's alone.
  bool empty() const { return size_.load(std::memory_order_acquire) == 0; }

  // While it is locked nothing in it moves, nor anything that it works with: for std::unique_lock.
  bool try_lock() { return lock_.try_lock(); }
  void unlock() { lock_.unlock(); }

  // Calls visit(work) for what is begun. Only while locked.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Work* work = begun_; work; work = work->next) visit(*work);
  }

 private:
  friend class Engine;
  void begin_next();
  void end(Work& work);

  Engine* engine_ = nullptr;
  Lock lock_;
  std::atomic<int> size_{0};
  int num_begun_ = 0;
  Work *begun_ = nullptr, *last_begun_ = nullptr;
  Work *waiting_ = nullptr, *last_waiting_ = nullptr;
};

}  // namespace sumac
