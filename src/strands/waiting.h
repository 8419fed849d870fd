// SPDX-License-Identifier: BSD-3-Clause
// The one waiting policy: the only place that spins, pauses, drives the MPI's own progress, yields
// and sleeps.
#pragma once

#include <cstdint>

#include "base/cpu.h"

namespace sumac {

struct WaitPolicy {
  // Polls of a waiting rank before it yields its core at each; 0 where there are more ranks than
  // cores. Meanwhile it yields now and then, and stops spinning where another thread wants the
  // core.
  std::uint32_t spins = 0;
  // Lets the MPI below make progress (a peer's send may depend on it). May be null.
  void (*drive)(void* context) = nullptr;
  // drive() itself waits for something to happen, and nothing else is done to wait: where time is
  // simulated, it passes there alone. For a policy without spins.
  bool drive_waits = false;
  // Called once a second while a wait goes on, and once when it has become long (kLong), with the
  // seconds so far. May be null.
  void (*late)(void* context, double seconds) = nullptr;
  void* context = nullptr;
};

// One wait of one rank. The rank calls step() after every poll that found nothing to do.
class Waiting {
 public:
  explicit Waiting(const WaitPolicy& policy)
      : policy_(policy), next_look_(policy.spins < kFirstLook ? policy.spins : kFirstLook) {}

  // `may_doze`: only other ranks of this node can end the wait.
  void step(bool may_doze = true) {
    if (++polls_ < next_look_) {
      cpu_pause();
    } else {
      give_way(may_doze);
    }
  }

 private:
  static constexpr std::uint32_t kFirstLook = 32;  // polls: about a microsecond
  static constexpr std::uint32_t kPollsPerLook = 256;
  void give_way(bool may_doze);
  void yield_or_nap();
  void judge_yields();
  void look_around();
  void look_at_clock();

  const WaitPolicy& policy_;
  std::uint32_t polls_ = 0, next_look_;
  std::uint32_t yields_ = 0;
  std::uint32_t reached_ = 0;  // yields that gave the processor to another thread
  bool naps_ = false;          // where a yield does not
  std::uint64_t started_ns_ = 0;
  std::uint64_t waited_ns_ = 0;
  std::uint64_t reported_seconds_ = 0;
  bool is_long_ = false;
};

}  // namespace sumac
