// SPDX-License-Identifier: BSD-3-Clause
#include "strands/waiting.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/cpu.h"
#include "machine/own_processors.h"

namespace sumac {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kLong = 20'000'000;  // ns of waiting before late() is called

// A rank with a processor of its own drives the MPI this often once its spins are over, as the MPI
// itself would while it waits: others may need it for one-sided accesses and large messages.
constexpr std::uint32_t kPollsPerDrive = 16;

// Says how long (ns) this thread's last yield took, and when it ended. A thread that computes on
// keeps the processor for a time slice, a thousand times as long as a collective takes; one that
// communicates returns it soon.
struct LastYield {
  std::uint64_t took_ns = 0, ended_ns = 0;
};
thread_local LastYield last_yield;
constexpr std::uint64_t kYieldForgotten = kSecond;
// A wait yields once it has lasted this many times as long as a yield takes, and again after as
// long, so that yields take at most a fifth of it.
constexpr std::uint64_t kWaitPerYield = 4;

// The following numbers hold where ranks share processors. A rank sleeps after this time of waiting
// (ns). A rank that only yields looks as busy as those it waits for, and the kernel may then keep
// these together on one processor.
constexpr std::uint64_t kSleepAfter = 150'000;
constexpr std::uint64_t kLongestSleep = 1'000'000;
constexpr std::uint64_t kWaitPerSleep = 8;  // a sleep is at most such a part of the wait so far
constexpr std::uint32_t kYieldsPerDrive = 16;
constexpr std::uint32_t kYieldsPerClock = 64;
// A yield that takes less time (ns) has given the processor to nobody: two changes of context, and
// what the other thread does, take longer.
constexpr std::uint64_t kGivenToNobody = 1'000;
// A thread naps if its yields reach no other rank. Linux lets a process yield only to those of its
// own scheduling group: the session, if processes are grouped by it (sched_autogroup_enabled), or
// the control group. If a launcher begins a session for each rank, as MPICH's does, a rank may be
// alone in its group, and its yields do nothing until its time slice ends. But yields reach nobody
// either while all others nap or have a processor, and some kernels choose between groups in most
// cases: naps then make all wait for one another, 20 times as long. So a thread naps only after a
// wait of kSleepAfter in which fewer than one yield in kFutile reached another thread. It naps for
// some waits, and for more of them each time that the next wait confirms it.
constexpr std::uint32_t kFewYields = 4;  // a wait that naps yields this often before it does
constexpr std::uint64_t kNap = 20'000;   // ns; shorter ones wake up in each other's way
constexpr std::uint32_t kFutile = 16;
constexpr std::uint32_t kFewNappingWaits = 16;
constexpr std::uint32_t kManyNappingWaits = 1024;
thread_local std::uint32_t napping_waits = 0;  // how many are still to come
thread_local std::uint32_t next_napping_waits = kFewNappingWaits;

// Sleeps and wakes close to the time asked for: by default the kernel adds up to 50 us.
void sleep_ns(std::uint64_t ns) {
  const timespec t{static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
  const int slack = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
  nanosleep(&t, nullptr);
  if (slack > 0) prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slack), 0UL, 0UL, 0UL);
}

}  // namespace

const WaitKernel kRealKernel{
    .now_ns = [] { return clock_ns(); },
    .yield = [] { sched_yield(); },
    .sleep = sleep_ns,
    .crowded = process_is_crowded,
};

void Waiting::look_around(bool may_sleep) {
  if (policy_.drive_waits) return drive();
  if (spun_ < policy_.spins) {
    drive();
    left_ = std::min(policy_.spins - spun_, kSpinsPerDrive);
    spun_ += left_;
  } else if (policy_.own_processor) {
    keep_processor();
  } else {
    share_processor(may_sleep);
  }
}

void Waiting::keep_processor() {
  left_ = kPollsPerDrive;
  drive();
  look_at_clock();
  const std::uint64_t now = started_ns_ + waited_ns_;
  if (returned_ns_ == 0) returned_ns_ = now;
  LastYield& last = last_yield;
  if (now - last.ended_ns > kYieldForgotten) last = {0, now};
  if (now - returned_ns_ < kWaitPerYield * last.took_ns || !policy_.kernel->crowded(now)) return;
  policy_.kernel->yield();
  returned_ns_ = policy_.kernel->now_ns();
  last = {returned_ns_ - now, returned_ns_};
}

void Waiting::share_processor(bool may_sleep) {
  ++yields_;
  if (yields_ % kYieldsPerDrive == 0) drive();
  if (yields_ % kYieldsPerClock == 0 || waited_ns_ > kSleepAfter) look_at_clock();
  if (!may_sleep) {
    policy_.kernel->yield();
  } else if (waited_ns_ > kSleepAfter) {
    if (!naps_) judge_yields();
    drive();
    policy_.kernel->sleep(std::min(waited_ns_ / kWaitPerSleep, kLongestSleep));
  } else {
    yield_or_nap();
  }
}

void Waiting::yield_or_nap() {
  const bool is_first = yields_ == 1;
  if (is_first && napping_waits > 0) {
    --napping_waits;
    naps_ = true;
  }
  const std::uint64_t before = policy_.kernel->now_ns();
  policy_.kernel->yield();
  if (policy_.kernel->now_ns() - before >= kGivenToNobody) {
    ++reached_;
    if (is_first && !naps_) next_napping_waits = kFewNappingWaits;
  } else if (naps_ && yields_ > kFewYields) {
    policy_.kernel->sleep(kNap);
  }
}

// Is called once in a wait that has become long without naps. The rest of the wait sleeps.
void Waiting::judge_yields() {
  naps_ = true;
  if (reached_ > yields_ / kFutile) return;
  napping_waits = next_napping_waits;
  next_napping_waits = std::min(4 * next_napping_waits, kManyNappingWaits);
}

void Waiting::drive() {
  if (policy_.drive) policy_.drive(policy_.context);
}

void Waiting::look_at_clock() {
  const std::uint64_t now = policy_.kernel->now_ns();
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
