// SPDX-License-Identifier: BSD-3-Clause
// This is the one waiting policy, and the only place that spins, pauses, drives the MPI's own
// progress, yields and sleeps. The rules are in docs/reliability.md.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/cpu.h"

namespace sumac {

// A waiting thread asks the kernel these things. Tests put their own functions in their place.
struct WaitKernel {
  std::uint64_t (*now_ns)();
  void (*yield)();
  void (*sleep)(std::uint64_t ns);
  // Returns true if threads of this process wait for one another's processors.
  bool (*crowded)(std::uint64_t now_ns);
};
extern const WaitKernel kRealKernel;

struct WaitPolicy {
  // True if this rank has a processor of its own, which no other rank of the job needs. Such a rank
  // never sleeps, and yields to threads of its own process only. Any other rank yields at each
  // poll, and sleeps.
  bool own_processor = false;
  // The rank polls this often before it yields or sleeps.
  std::uint32_t spins = 0;
  // Lets the MPI below make progress (a peer's send may depend on it). May be null.
  void (*drive)(void* context) = nullptr;
  // True if drive() itself waits for something to happen, and the rank does nothing else to wait:
  // in simulations, time passes only there. Such a policy has no spins.
  bool drive_waits = false;
  // This is called once a second while a wait goes on, and once when it has become long (20 ms),
  // with the seconds so far. May be null.
  void (*late)(void* context, double seconds) = nullptr;
  void* context = nullptr;
  const WaitKernel* kernel = &kRealKernel;
};

// This is one wait of one rank. The rank calls step() after every poll that found nothing to do.
class Waiting {
 public:
  // The rank polls this often between two calls of drive(), until the policy's spins are over.
  static constexpr std::uint32_t kSpinsPerDrive = 256;

  explicit Waiting(const WaitPolicy& policy)
      : policy_(policy), left_(std::min(policy.spins, kSpinsPerDrive)), spun_(left_) {}

  // `may_sleep` says that only other ranks of this node can end the wait.
  void step(bool may_sleep = true) {
    if (left_ > 0) {
      --left_;
      cpu_pause();
    } else {
      look_around(may_sleep);
    }
  }

 private:
  void look_around(bool may_sleep);
  void keep_processor();
  void share_processor(bool may_sleep);
  void yield_or_nap();
  void judge_yields();
  void drive();
  void look_at_clock();

  const WaitPolicy& policy_;
  std::uint32_t left_;  // polls until the next look
  std::uint32_t spun_;  // the policy's spins that are over or under way
  std::uint32_t yields_ = 0;
  std::uint32_t reached_ = 0;  // yields that gave the processor to another thread
  bool naps_ = false;          // sleeps after a yield that reached nobody
  bool is_long_ = false;
  std::uint64_t started_ns_ = 0;
  std::uint64_t waited_ns_ = 0;
  std::uint64_t returned_ns_ = 0;  // when the last yield returned, or the first look was made
  std::uint64_t reported_seconds_ = 0;
};

}  // namespace sumac
