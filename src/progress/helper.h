// SPDX-License-Identifier: BSD-3-Clause
// A thread that looks at the queues when the program does not. Where the MPI calls nobody from
// within its blocking functions, it is what keeps a rank in MPI_Recv from holding up the others.
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "progress/engine.h"

namespace sumac {

// SUMAC_PROGRESS.
enum class Progressing : int { automatic, thread, off };

class Helper {
 public:
  enum class Zeal {
    rescue,  // looks once a millisecond, and only when nobody else has since
    busy,    // looks all the time while anything is under way: for a processor of its own
  };

  explicit Helper(Engine& engine) : engine_(engine) {}

  // Starts the thread unless it runs. False where the system has none to give.
  bool start(Zeal zeal, bool may_call_mpi);
  // Ends it and waits until it has.
  void stop();

  // After Engine::begun(): wakes it when it has nothing to do.
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
