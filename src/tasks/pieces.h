// SPDX-License-Identifier: BSD-3-Clause
// Pieces of one piece of work, taken by whoever comes. Who wants the work done takes pieces itself
// and then waits for those alone that others have taken: never for others to come. So it does not
// matter whether they come at all, or when it is over: a task that a run-time library starts late
// finds that its invitation is of the past.
//
// Waiting for tasks by the run-time library's own means is not to be had here: the waiting thread
// would run the application's tasks meanwhile, in the middle of an MPI call, and these may wait
// for what the caller holds, or call MPI.
//
// All pieces are done with the floating-point environment of who wants them done: its rounding
// mode, its treatment of denormal numbers. A helper's own is as before afterwards, flags included.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cfenv>
#include <cstddef>
#include <cstdint>

#include "base/align.h"

namespace sumac {

struct PieceWork {
  void (*run)(void* data, std::size_t piece) = nullptr;  // from any thread, several at a time
  void* data = nullptr;
  std::size_t pieces = 0;
  // Returns once `done`, which others count up, has reached `target`.
  void (*wait)(const std::atomic<std::size_t>& done, std::size_t target) = nullptr;
};

class alignas(kFalseSharingRange) Pieces {
 public:
  static constexpr int kCountBits = 24;
  static constexpr std::size_t kMost = (std::size_t{1} << kCountBits) - 1;

  // What a helper needs, to be copied: good for one work only, harmless afterwards.
  struct Invitation {
    Pieces* pieces;
    std::uint64_t number;
  };

  // One of the process's few, for this work, which stays where it is until wait() has returned;
  // null when all are in use. They are never destroyed.
  static Pieces* open(const PieceWork& work);
  Invitation invite() { return {this, number_}; }
  // Takes pieces until none are left.
  static void help(const Invitation& invitation);
  // For who opened it, after having helped: until all pieces are done.
  void wait();
  // Gives it back, after wait().
  void close();

 private:
  static bool may_take(std::uint64_t word, std::uint64_t number) {
    return word >> kCountBits == number && (word & kMost) != 0;
  }

  // The work's number, and how many pieces are left.
  std::atomic<std::uint64_t> word_{0};
  alignas(kFalseSharingRange) std::atomic<std::size_t> done_{0};
  std::atomic<bool> in_use_{false};
  std::uint64_t number_ = 0;
  PieceWork work_;
  pthread_t owner_{};
  std::fenv_t environment_{};
};

}  // namespace sumac
