// SPDX-License-Identifier: BSD-3-Clause
#include "strands/waiting.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>

#include "base/clock.h"

namespace sumac {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kSleepAfter = 20'000'000;  // ns of waiting before a rank sleeps
constexpr std::uint64_t kLong = 20'000'000;        // and before late() is called
// Time of waiting (ns) after which a rank dozes where ranks share processors. A rank that only
// yields looks as busy as those it waits for, and the kernel may then keep these together on one
// processor.
constexpr std::uint64_t kDozeAfter = 150'000;
// A yield that takes less time (ns) has given the processor to nobody: two changes of context, and
// what the other does, take longer.
constexpr std::uint64_t kGivenToNobody = 1'000;
constexpr std::uint32_t kFewYields = 4;  // of a wait that naps, before it does
constexpr std::uint64_t kNap = 20'000;   // ns; shorter ones wake up in each other's way
constexpr std::uint64_t kLongestSleep = 1'000'000;
constexpr std::uint32_t kYieldsPerDrive = 16;
constexpr std::uint32_t kYieldsPerClock = 64;
// Waits of a thread that yield after their first polls, once a yield has given the processor to
// another: where a program computes with more threads than there are processors, its next wait is
// likely to find one that is ready, too.
constexpr std::uint32_t kCrowdedWaits = 64;
thread_local std::uint32_t crowded_waits = 0;
// Naps, where ranks share processors and yields reach none of them. Linux lets a process yield only
// to those of its own scheduling group: the session, where processes are grouped by it
// (sched_autogroup_enabled), or the control group. Where a launcher begins a session for each rank,
// as MPICH's does, a rank may be alone in its group, and its yields do nothing until its time slice
// ends. But yields reach nobody either while all others nap or have a processor, and some kernels
// choose between groups in most cases: naps then make all wait for one another, 20 times as long.
// So a thread naps only after a wait of kDozeAfter in which fewer than one yield in kFutile reached
// another thread, for some waits; more of them each time that the next wait confirms it.
constexpr std::uint32_t kFutile = 16;
constexpr std::uint32_t kFewNappingWaits = 16;
constexpr std::uint32_t kManyNappingWaits = 1024;
thread_local std::uint32_t napping_waits = 0;  // still to come
thread_local std::uint32_t next_napping_waits = kFewNappingWaits;

void sleep_ns(std::uint64_t ns) {
  const timespec t{static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
  nanosleep(&t, nullptr);
}

// Sleeps and wakes close to the time asked for: by default the kernel adds up to 50 us.
void doze_ns(std::uint64_t ns) {
  const int slack = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
  sleep_ns(ns);
  if (slack > 0) prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slack), 0UL, 0UL, 0UL);
}

// True where another thread was given the processor.
bool yields_to_another() {
  const std::uint64_t before = clock_ns();
  sched_yield();
  return clock_ns() - before >= kGivenToNobody;
}

}  // namespace

void Waiting::give_way(bool may_doze) {
  if (policy_.drive_waits) return policy_.drive(policy_.context);
  if (polls_ < policy_.spins) return look_around();
  polls_ = std::max(policy_.spins, 1u);  // stays in the yielding phase when the counter would wrap
  ++yields_;
  if (policy_.drive && yields_ % kYieldsPerDrive == 0) policy_.drive(policy_.context);
  if (yields_ % kYieldsPerClock == 0 || waited_ns_ > kDozeAfter) look_at_clock();
  if (waited_ns_ > kSleepAfter) {
    // The sleep is at most about 2 % of the time waited so far.
    if (policy_.drive) policy_.drive(policy_.context);
    sleep_ns(std::min(waited_ns_ / 64, kLongestSleep));
  } else if (policy_.spins == 0 && may_doze && waited_ns_ > kDozeAfter) {
    if (!naps_) judge_yields();
    if (policy_.drive) policy_.drive(policy_.context);
    doze_ns(waited_ns_ / 8);
  } else if (policy_.spins == 0 && may_doze) {
    yield_or_nap();
  } else {
    sched_yield();
  }
}

void Waiting::yield_or_nap() {
  const bool is_first = yields_ == 1;
  if (is_first && napping_waits > 0) {
    --napping_waits;
    naps_ = true;
  }
  if (yields_to_another()) {
    ++reached_;
    if (is_first && !naps_) next_napping_waits = kFewNappingWaits;
  } else if (naps_ && yields_ > kFewYields) {
    doze_ns(kNap);
  }
}

// Once in a wait that has become long without naps; the rest of it dozes.
void Waiting::judge_yields() {
  naps_ = true;
  if (reached_ > yields_ / kFutile) return;
  napping_waits = next_napping_waits;
  next_napping_waits = std::min(4 * next_napping_waits, kManyNappingWaits);
}

// In the spin phase, after the first polls and then once in kPollsPerLook: drives the MPI's
// progress, and ends the phase where another thread wants the processor, such as one of this
// process that computes, or Horovod's. To spin then would keep it for a whole time slice.
void Waiting::look_around() {
  const bool first = polls_ < kPollsPerLook;
  if (!first && policy_.drive) policy_.drive(policy_.context);
  next_look_ = std::min((polls_ / kPollsPerLook + 1) * kPollsPerLook, policy_.spins);
  if (first && crowded_waits == 0) return;
  if (yields_to_another()) {
    crowded_waits = kCrowdedWaits;
    polls_ = next_look_ = policy_.spins;
  } else if (crowded_waits > 0) {
    --crowded_waits;
  }
}

void Waiting::look_at_clock() {
  const std::uint64_t now = clock_ns();
  if (started_ns_ == 0) started_ns_ = now;
  waited_ns_ = now - started_ns_;
  const std::uint64_t seconds = waited_ns_ / kSecond;
  const bool becomes_long = !is_long_ && waited_ns_ >= kLong;
  if (becomes_long || seconds > reported_seconds_) {
    reported_seconds_ = seconds;
    is_long_ = true;
    if (policy_.late) policy_.late(policy_.context, static_cast<double>(waited_ns_) / kSecond);
  }
}

}  // namespace sumac
