// SPDX-License-Identifier: BSD-3-Clause
// All queues of the process, for whoever has a moment: intercepted calls, the MPI's own progress,
// a helper thread. A rank that waits in one collective so brings others to their ends, on which
// other ranks may depend.
#pragma once

#include <pthread.h>

#include <atomic>
#include <vector>

#include "progress/queue.h"

namespace sumac {

class Engine {
 public:
  // From now on, until forget(), the queue is looked at. Both may be called from within progress():
  // an MPI may free a communicator late, in any call that is made there, and a callback of the
  // program's may then start something on another one.
  void watch(WorkQueue& queue, bool calls_mpi);
  void forget(WorkQueue& queue);

  // Looks at every queue; true when anything moved. Returns at once when called from within itself
  // or while another thread is at it. Without `may_call_mpi`, not those that use messages.
  // `has_time` as for queues.
  bool progress(bool may_call_mpi = true, bool has_time = true);

  // Works that have not ended, of all queues.
  bool idle() const { return under_way_.load(std::memory_order_seq_cst) == 0; }

  // Grows whenever progress() has looked at all queues in which something is under way.
  std::uint64_t looks() const { return looks_.load(std::memory_order_relaxed); }

 private:
  friend class WorkQueue;
  struct Watched {
    WorkQueue* queue;  // null: forgotten
    bool calls_mpi;
  };
  bool looking() const { return looker_.load(std::memory_order_relaxed) == pthread_self(); }

  Lock lock_;  // of watched_
  std::vector<Watched> watched_;
  std::atomic<pthread_t> looker_{};  // the thread that is in progress()
  std::atomic<int> under_way_{0};
  std::atomic<std::uint64_t> looks_{0};
};

}  // namespace sumac
