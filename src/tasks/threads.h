// SPDX-License-Identifier: BSD-3-Clause
// Large pieces of work use the application's own threads. This interface decides how many threads a
// piece of work may use, and gets them from the OpenMP run-time library that the application uses.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/use_counts.h"
#include "tasks/pieces.h"

namespace sumac {

// Sumac finds the OpenMP run-time libraries of the process when it needs them and never links one:
// a program may bring its own at any time, or several, and one that has none must not get one from
// Sumac. libgomp, libomp and libiomp5 all have these functions, with GCC's calling conventions.
struct OpenMp {
  int (*in_parallel)();  // nonzero if the calling thread is in an active region
  int (*max_threads)();
  int (*num_threads)();  // threads of the innermost region
  int (*num_procs)();    // processors of the process, even if the thread is bound to one
  // Runs body(data) in a region of at most `threads` threads, the caller among them, and waits for
  // the region's end.
  void (*parallel)(void (*body)(void*), void* data, unsigned threads, unsigned flags);
  // Copies `size` bytes of data and runs body on the copy, now or later, in any thread of the
  // region.
  void (*task)(void (*body)(void*), void* data, void (*copy)(void*, void*), long size, long align,
               bool deferrable, unsigned flags, void** depend, int priority, void* detach);
  // Only libomp and libiomp5 have this function; it is null for others. It returns the number of
  // threads that the library knows of, 0 before its first use.
  int (*all_threads)(const void* location) = nullptr;
};

// Returns true if the calling thread is in an active region. It does not initialise a library that
// the program has not used yet, as in_parallel() of libomp would: the library reads its environment
// then, and the program may still be about to set it.
inline bool in_region(const OpenMp& openmp) {
  if (openmp.all_threads && openmp.all_threads(nullptr) < 2) return false;
  return openmp.in_parallel();
}

// Returns the OpenMP run-time libraries of the process, each once, in the order in which the
// objects were loaded, so that the program's own comes first if there are several. A library that
// was found is never unloaded. Searches again only if objects have been loaded since the last call.
// Thread-safe.
std::span<const OpenMp> find_openmp();

struct ThreadSettings {
  std::size_t min_bytes = SIZE_MAX;  // SIZE_MAX: never
  int most = 0;                      // threads; 0: one for each processor of this process
  int priority = 0;                  // priority of the tasks
  // True if work outside of a parallel region may open one. It is off by default: a region of
  // another size than the program's last may end threads whose threadprivate values the program
  // relies on, and a run-time library that is first used here leaves a forked child without the
  // threads that it believes to have. Sumac can see neither.
  bool own_regions = false;
};

// This process may run on these processors.
struct ProcessorRoom {
  int processors = 1;  // processors of the affinity mask
  double share = 1;    // part of them, 0 to 1, that other ranks of the node leave to this one
  int quota = 0;       // limit of the control group, in processors; 0: none
  int ranks = 1;       // ranks that share the quota
  int known = 0;       // ranks on whose reports these values rest
};

void set_threads(const ThreadSettings& settings);
// Replaces the values by those that rest on the reports of as many ranks or more.
void set_processor_room(const ProcessorRoom& room);
ProcessorRoom processor_room();

// Work of fewer bytes is not worth a second thread. This is the only value read on the path of a
// call.
inline std::atomic<std::size_t> threads_min_bytes{SIZE_MAX};
inline bool worth_threads(std::size_t bytes) {
  return bytes >= threads_min_bytes.load(std::memory_order_relaxed);
}

// While it lives, work done by this thread may (or may not) use other threads. By default it may
// not: a thread inside the MPI's progress, or a helper thread, must not open a region.
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

// The threads for one piece of work, the caller's own among them, are reserved while this object
// lives. All works of the process together reserve at most as many threads as the process may use;
// a caller always has its own.
class Threads {
 public:
  Threads() : Threads(UseThreads::may() ? find_openmp() : std::span<const OpenMp>()) {}
  explicit Threads(std::span<const OpenMp> openmps);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const { return count_; }
  ThreadUse use() const { return use_; }

  // Runs the work to its end. Pieces are started in order.
  void run(const PieceWork& work) const;

 private:
  // Returns the number of threads wanted and sets `most`, the number that the process may use at
  // all.
  int choose(std::span<const OpenMp> openmps, int& most);

  const OpenMp* openmp_ = nullptr;
  int count_ = 1;
  ThreadUse use_ = ThreadUse::elsewhere;
};

}  // namespace sumac
