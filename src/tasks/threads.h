// SPDX-License-Identifier: BSD-3-Clause
// The application's own threads for large pieces of work: how many a piece of work may use, and
// getting them from the OpenMP run-time library that the application uses.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/thread_use.h"
#include "tasks/openmp.h"
#include "tasks/pieces.h"

namespace sumac {

struct ThreadSettings {
  std::size_t min_bytes = SIZE_MAX;  // SIZE_MAX: never
  int most = 0;                      // threads; 0: as many as have processors of their own
  int priority = 0;                  // of tasks
  // Whether work that is done outside of a parallel region may open one. It must not by default: a
  // region of another size than the program's last may end threads whose threadprivate values the
  // program counts on, and the run-time library's first leaves a forked child without the threads
  // that it believes to have. Neither can be seen from here.
  bool own_regions = false;
};

// What this process may run on.
struct ProcessorRoom {
  int processors = 1;  // it may run on
  double share = 1;    // of them, 0 to 1, that other ranks of the node leave to it
  int quota = 0;       // of the control group, in processors; 0: none
  int ranks = 1;       // that share the quota
  int known = 0;       // ranks this goes by
};

void set_threads(const ThreadSettings& settings);
// What is told from more ranks, or later from as many, counts.
void set_processor_room(const ProcessorRoom& room);
ProcessorRoom processor_room();

// Work on fewer bytes is not worth a second thread: all there is to know on the path of a call.
inline std::atomic<std::size_t> threads_min_bytes{SIZE_MAX};
inline bool worth_threads(std::size_t bytes) {
  return bytes >= threads_min_bytes.load(std::memory_order_relaxed);
}

// While it lives, work done by this thread may use other threads, or may not. By default it may
// not: who works inside the MPI's progress or in a helper thread is nobody to open a region.
class UseThreads {
 public:
  explicit UseThreads(bool may) : before_(allowed()) { allowed() = may; }
  ~UseThreads() { allowed() = before_; }
  UseThreads(const UseThreads&) = delete;
  UseThreads& operator=(const UseThreads&) = delete;
  static bool may() { return allowed(); }

 private:
  static bool& allowed() {
    static thread_local bool may = false;
    return may;
  }
  bool before_;
};

// Threads for one piece of work, the caller's own among them, kept for it while this lives. All
// such works of the process together keep no more threads than it may use; but a caller always has
// its own.
class Threads {
 public:
  Threads() : Threads(UseThreads::may() ? find_openmp() : std::span<const OpenMp>()) {}
  explicit Threads(std::span<const OpenMp> openmps);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const { return count_; }
  ThreadUse use() const { return use_; }

  // To its end. Pieces are started in order.
  void run(const PieceWork& work) const;

 private:
  // How many threads are wanted, and by `most` how many the process may use at all.
  int choose(std::span<const OpenMp> openmps, int& most);

  const OpenMp* openmp_ = nullptr;
  int count_ = 1;
  ThreadUse use_ = ThreadUse::elsewhere;
};

}  // namespace sumac
