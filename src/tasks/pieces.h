// SPDX-License-Identifier: BSD-3-Clause
// The pieces of one piece of work are taken by any thread that has time. The owner of the work
// takes pieces itself and then waits only for pieces that other threads have taken, never for
// threads to come. So it does not matter whether helpers come at all, or when the work is over: a
// task that a run-time library starts late finds that its invitation has expired.
//
// The run-time library's own means of waiting for tasks cannot be used here: the waiting thread
// would run the application's tasks meanwhile, in the middle of an MPI call, and these may wait for
// something that the caller holds, or call MPI.
//
// All pieces are done with the owner's floating-point environment: its rounding mode and its
// treatment of denormal numbers. A helper's own environment is restored afterwards, flags included.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cfenv>
#include <cstddef>
#include <cstdint>

#include "base/cpu.h"

namespace sumac {

struct PieceWork {
  // Called from any thread, several at a time.
  void (*run)(void* data, std::size_t piece) = nullptr;
  void* data = nullptr;
  std::size_t pieces = 0;
  // Returns once `done`, which others count up, has reached `target`.
  void (*wait)(const std::atomic<std::size_t>& done, std::size_t target) = nullptr;
};

class alignas(kFalseSharingRange) Pieces {
 public:
  static constexpr int kCountBits = 24;
  static constexpr std::size_t kMost = (std::size_t{1} << kCountBits) - 1;

  // A helper needs an invitation to take part. It may be copied. It is valid for one work; expired
  // invitations are harmless.
  struct Invitation {
    Pieces* pieces;
    std::uint64_t number;
  };

  // Returns one of the process's Pieces for this work, or null if all are in use. `work` must stay
  // where it is until wait() has returned. Pieces are never destroyed.
  static Pieces* open(const PieceWork& work);
  Invitation invite() { return {this, number_}; }
  // Takes pieces until none are left.
  static void help(const Invitation& invitation);
  // Waits until all pieces are done. The owner calls it, after it has helped.
  void wait();
  // Returns the Pieces to the process, after wait().
  void close();

 private:
  static bool may_take(std::uint64_t word, std::uint64_t number) {
    return word >> kCountBits == number && (word & kMost) != 0;
  }

  // The word holds the work's number and the number of pieces left.
  std::atomic<std::uint64_t> word_{0};
  alignas(kFalseSharingRange) std::atomic<std::size_t> done_{0};
  std::atomic<bool> in_use_{false};
  std::uint64_t number_ = 0;
  PieceWork work_;
  pthread_t owner_{};
  std::fenv_t environment_{};
};

}  // namespace sumac
