// SPDX-License-Identifier: BSD-3-Clause
// The engine has all queues of the process. Whichever thread has a moment advances them:
// intercepted calls, the MPI's own progress, the helper thread that is also here. So a rank that
// waits in one collective completes others, on which other ranks may depend.
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
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

// These are the values of SUMAC_PROGRESS.
enum class Progressing : int { automatic, thread, off };

// This thread advances the queues while the program does not. If the MPI calls no progress
// functions from within its blocking calls, only this thread keeps a rank in MPI_Recv from holding
// up the others.
class Helper {
 public:
  enum class Zeal {
    rescue,  // looks once a millisecond, and only when no other thread has since
    busy,    // looks all the time while anything is under way; needs a processor of its own
  };

  explicit Helper(Engine& engine) : engine_(engine) {}

  // Starts the thread unless it runs. Returns false if the system cannot create one.
  bool start(Zeal zeal, bool may_call_mpi);
  // Ends the thread and waits for its end.
  void stop();

  // Must be called after Engine::begun(): wakes the thread if it is parked.
  void notify() {
    if (parked_.load(std::memory_order_seq_cst)) [[unlikely]]
      wake();
  }

 private:
  void wake();
  static void* enter(void* helper);
  void run();
  void park();

  Engine& engine_;
  std::mutex mutex_;
  std::condition_variable condition_;
  pthread_t thread_{};
  bool running_ = false, may_call_mpi_ = false;
  Zeal zeal_ = Zeal::rescue;
  std::atomic<bool> parked_{false}, ending_{false};
};

}  // namespace sumac
