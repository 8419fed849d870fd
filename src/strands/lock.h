// SPDX-License-Identifier: BSD-3-Clause
// This lock is for short sections. The thread that holds the lock may call try_lock(), which then
// fails: the MPI calls back into the library from within calls that the library makes.
#pragma once

#include <sched.h>

#include <atomic>

#include "base/cpu.h"

namespace sumac {

class Lock {
 public:
  bool try_lock() {
    return !taken_.load(std::memory_order_relaxed) &&
           !taken_.exchange(true, std::memory_order_acquire);
  }
  void lock() {
    for (int polls = 0; !try_lock(); ++polls) {
      if (polls < kSpins) {
        cpu_pause();
      } else {
        sched_yield();
      }
    }
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  static constexpr int kSpins = 64;
  std::atomic<bool> taken_{false};
};

}  // namespace sumac
