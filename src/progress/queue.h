// SPDX-License-Identifier: BSD-3-Clause
// The collectives under way on one communicator, in the order in which they were called. Each waits
// only for what was called before it and for other ranks to call the same, so whoever looks at the
// queue often enough, on every rank, brings all of it to its end.
#pragma once

#include <sched.h>

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

  // Adds what `ranks`, which no other work uses, are to do, and begins it at once. Other ranks may
  // begin it before or after what they have added by add().
  void add_apart(Work& work, const Ranks& ranks);

  // Looks at all that is begun; true when anything moved. `has_time`: whoever calls has nothing to
  // do but wait, and may do the work of ranks that have. At most one thread at a time: others, and
  // calls from within this one, return at once.
  bool progress(bool has_time = true);

  // Whether only one thread of this process ever calls. Then it may wait in place with the queue
  // locked: another one must be able to add to the queue meanwhile.
  void set_single_caller(bool single) { single_caller_ = single; }

  // Until the work, which was added, has ended. What else is under way in the process is looked at
  // by the policy's drive().
  void wait_for(const Work& work, const WaitPolicy& policy);

  // Until all that was added has ended.
  void finish_all(const WaitPolicy& policy);

  // Nothing is left, and the group is its caller's alone.
  bool empty() const { return size_.load(std::memory_order_acquire) == 0; }

  // Calls look(begun) with the first of what is begun, or null; `next` leads on. Nothing of the
  // communicator's moves meanwhile, but for what a thread, which may be this one, waits for in
  // place. False where another thread stays at it.
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
  void note_added(Work& work, const Ranks& ranks, bool overlaps);
  void begin(Work& work);
  void begin_next();
  void end(Work& work);
  // Where nothing else is under way here it can be waited for as if the call were a blocking one.
  bool finish_alone(const Work& work, const WaitPolicy& policy);

  Engine* engine_ = nullptr;
  bool single_caller_ = false;
  Lock lock_;
  std::atomic<int> size_{0};  // written with the lock held
  std::atomic<const Work*> in_place_{nullptr};
  int num_in_order_ = 0;  // of those begun, the ones of add()
  Work *begun_ = nullptr, *last_begun_ = nullptr;
  Work *waiting_ = nullptr, *last_waiting_ = nullptr;
};

}  // namespace sumac
