// SPDX-License-Identifier: BSD-3-Clause
// The queue has the collectives under way on one communicator, in the order in which they were
// called. Each waits only for those called before it and for other ranks to call the same, so all
// of them end as long as every rank looks at its queue often enough.
#pragma once

#include <sched.h>

#include <atomic>

#include "progress/work.h"
#include "strands/lock.h"

namespace sumac {

class Engine;

// The queue must not move once an engine watches it.
class WorkQueue {
 public:
  // So many operations may be under way at the same time: as many as a ring of slots has places.
  // Over levels there are fewer, since each has strands and scratch memory of its own.
  static constexpr int kMostInGroup = 8, kMostOverLevels = 4;

  // Adds a call for `ranks`, which `work` carries out, and begins it if there is room. The work
  // must stay where it is until it has ended. MPI allows one thread at a time to call collectives
  // on a communicator.
  void add(Work& work, const ChosenCall& call, const DirectTry& direct, const Ranks& ranks,
           bool overlaps);

  // Adds a call for `ranks` that no other work uses, and begins it at once. Other ranks may begin
  // it before or after what they have added by add().
  void add_apart(Work& work, const ChosenCall& call, const DirectTry& direct, const Ranks& ranks);

  // Advances everything that is begun. Returns true if anything moved. `has_time` says that the
  // caller would only wait otherwise, so it may do the work of ranks that are busy. One thread at a
  // time advances the queue: for other threads, and calls from within this one, it returns at once.
  bool progress(bool has_time = true);

  // Says whether only one thread of this process ever calls. That thread may then wait in place
  // with the queue locked; otherwise another thread must be able to add to the queue meanwhile.
  void set_single_caller(bool single) { single_caller_ = single; }

  // Waits until `work`, which was added, has ended. The policy's drive() advances whatever else is
  // under way in the process.
  void wait_for(const Work& work, const WaitPolicy& policy);

  // Waits until all that was added has ended.
  void finish_all(const WaitPolicy& policy);

  // Returns true if nothing is left, so that the caller has the group to itself.
  bool empty() const { return size_.load(std::memory_order_acquire) == 0; }

  // Calls look(begun) with the first work that is begun, or null; `next` leads to the others. The
  // queue does not move meanwhile, except for what a thread (it may be this one) waits for in
  // place. Returns false if another thread keeps the queue locked.
  template <class Look>
  bool hold(Look look) {
    constexpr int kTries = 1000;
    for (int i = 0; i < kTries; ++i, sched_yield()) {
      const Work* const in_place = in_place_.load(std::memory_order_relaxed);
      const bool locked = !in_place && lock_.try_lock();
      if (!in_place && !locked) continue;
      look(in_place ? in_place : begun_);
      if (locked) lock_.unlock();
      return true;
    }
    return false;
  }

 private:
  friend class Engine;
  void note_added(Work& work);
  void begin(Work& work);
  void begin_next();
  void end(Work& work);
  // Waits as a blocking call would, if nothing else is under way on these ranks.
  bool finish_alone(const Work& work, const WaitPolicy& policy);

  Engine* engine_ = nullptr;
  bool single_caller_ = false;
  Lock lock_;
  std::atomic<int> size_{0};  // written with the lock held
  std::atomic<const Work*> in_place_{nullptr};
  int num_in_order_ = 0;  // works begun that came by add()
  Work *begun_ = nullptr, *last_begun_ = nullptr;
  Work *waiting_ = nullptr, *last_waiting_ = nullptr;
};

}  // namespace sumac
