// SPDX-License-Identifier: BSD-3-Clause
// This thread advances the queues while the program does not. If the MPI calls no progress
// functions from within its blocking calls, only this thread keeps a rank in MPI_Recv from holding
// up the others.
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "progress/engine.h"

namespace sumac {

// These are the values of SUMAC_PROGRESS.
enum class Progressing : int { automatic, thread, off };

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
