// SPDX-License-Identifier: BSD-3-Clause
// The engine has all queues of the process. Whichever thread has a moment advances them:
// intercepted calls, the MPI's own progress, a helper thread. So a rank that waits in one
// collective completes others, on which other ranks may depend.
#pragma once

#include <pthread.h>

#include <atomic>
#include <vector>

#include "progress/queue.h"

namespace sumac {

class Engine {
 public:
  // Watches the queue until forget(). Both may be called from within progress(): an MPI may free a
  // communicator late, in any call made there, and a callback of the program may then start an
  // operation on another one.
  void watch(WorkQueue& queue, bool calls_mpi);
  void forget(WorkQueue& queue);

  // Advances every queue. Returns true if anything moved. Returns at once if it is called from
  // within itself or while another thread is in it. Without `may_call_mpi`, queues that use
  // messages are left out. `has_time` is as for queues.
  bool progress(bool may_call_mpi = true, bool has_time = true);

  // Returns true if no work of any queue is under way.
  bool idle() const { return under_way_.load(std::memory_order_seq_cst) == 0; }

  // Returns a number that grows whenever progress() has advanced all queues in which something is
  // under way.
  std::uint64_t looks() const { return looks_.load(std::memory_order_relaxed); }

 private:
  friend class WorkQueue;
  struct Watched {
    WorkQueue* queue;  // null: forgotten
    bool calls_mpi;
  };
  bool looking() const { return looker_.load(std::memory_order_relaxed) == pthread_self(); }

  Lock lock_;  // protects watched_
  std::vector<Watched> watched_;
  std::atomic<pthread_t> looker_{};  // the thread that is in progress()
  std::atomic<int> under_way_{0};
  std::atomic<std::uint64_t> looks_{0};
};

}  // namespace sumac
