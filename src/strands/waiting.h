// SPDX-License-Identifier: BSD-3-Clause
// The one waiting policy: the only place that spins, pauses, drives the MPI's own progress, yields
// and sleeps. The rules are in docs/waiting.md.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/cpu.h"

namespace sumac {

// What a waiting thread asks of the kernel. Tests put their own in its place.
struct WaitKernel {
  std::uint64_t (*now_ns)();
  void (*yield)();
  void (*sleep)(std::uint64_t ns);
  // True where threads of this process wait for one another's processors.
  bool (*crowded)(std::uint64_t now_ns);
};
extern const WaitKernel kRealKernel;

struct WaitPolicy {
  // This rank has a processor of its own: no other rank of the job needs it. Such a rank never
  // sleeps, and yields to threads of its own process only; else it yields at each poll and sleeps.
  bool own_processor = false;
  // Polls before that begins.
  std::uint32_t spins = 0;
  // Lets the MPI below make progress (a peer's send may depend on it). May be null.
  void (*drive)(void* context) = nullptr;
  // drive() itself waits for something to happen, and nothing else is done to wait: where time is
  // simulated, it passes there alone. For a policy without spins.
  bool drive_waits = false;
  // Called once a second while a wait goes on, and once when it has become long (20 ms), with the
  // seconds so far. May be null.
  void (*late)(void* context, double seconds) = nullptr;
  void* context = nullptr;
  const WaitKernel* kernel = &kRealKernel;
};

// One wait of one rank. The rank calls step() after every poll that found nothing to do.
class Waiting {
 public:
  // Polls between two calls of drive() before the policy's spins are over.
  static constexpr std::uint32_t kSpinsPerDrive = 256;

  explicit Waiting(const WaitPolicy& policy)
      : policy_(policy), left_(std::min(policy.spins, kSpinsPerDrive)), spun_(left_) {}

  // `may_sleep`: only other ranks of this node can end the wait.
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
  std::uint32_t spun_;  // of the policy's spins, those behind or under way
  std::uint32_t yields_ = 0;
  std::uint32_t reached_ = 0;  // yields that gave the processor to another thread
  bool naps_ = false;          // where a yield does not
  bool is_long_ = false;
  std::uint64_t started_ns_ = 0;
  std::uint64_t waited_ns_ = 0;
  std::uint64_t returned_ns_ = 0;  // from the last yield, or when the first look was made
  std::uint64_t reported_seconds_ = 0;
};

}  // namespace sumac
