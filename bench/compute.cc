// SPDX-License-Identifier: BSD-3-Clause
#include "compute.h"

#include <sys/prctl.h>

#include <algorithm>

#include "timing.h"

namespace sumac::bench {
namespace {

constexpr std::int64_t kSteps = 1 << 16;
constexpr int kTrials = 20;

// A chain of multiplications that the compiler can neither shorten nor remove.
void work(std::int64_t steps, std::uint64_t& value) {
  std::uint64_t x = value;
  for (std::int64_t i = 0; i < steps; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(x));
  }
  value = x;
}

double ns_per_step() {
  std::uint64_t value = 1;
  std::int64_t fastest = INT64_MAX;
  for (int i = 0; i < kTrials; i++) {
    const std::int64_t start = now_ns();
    work(kSteps, value);
    fastest = std::min(fastest, now_ns() - start);
  }
  return static_cast<double>(std::max<std::int64_t>(fastest, 1)) / kSteps;
}

void sleep_until(std::int64_t ns) {
  const timespec time{static_cast<time_t>(ns / 1000000000), static_cast<long>(ns % 1000000000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

}  // namespace

Computation::Computation(Compute mode, std::int64_t ns) : mode_(mode), amount_(ns) {
  if (mode == Compute::busy) {
    amount_ = std::max<std::int64_t>(
        static_cast<std::int64_t>(static_cast<double>(ns) / ns_per_step()), 1);
  } else {
    prctl(PR_SET_TIMERSLACK, 1UL);  // otherwise a sleep may end 50 us late
  }
}

std::int64_t Computation::now() { return now_ns(); }

void Computation::compute(State& state, int piece, int pieces) const {
  const std::int64_t before = amount_ * (piece - 1) / pieces, after = amount_ * piece / pieces;
  if (mode_ == Compute::busy) {
    work(after - before, state.value);
  } else {
    sleep_until(state.begin + after);
  }
}

}  // namespace sumac::bench
