// SPDX-License-Identifier: BSD-3-Clause
#include "observe/counted.h"

#include <atomic>

namespace sumac {
namespace {

struct Sums {
  std::atomic<std::uint64_t> calls{0}, bytes{0}, ns{0};
};
Sums sums[kNumCounted];

Sums& sums_of(Counted counted) { return sums[static_cast<int>(counted)]; }

}  // namespace

void CountedCalls::merge(const CountedCalls& other) {
  for (int c = 0; c < kNumCounted; ++c) {
    calls[c].calls += other.calls[c].calls;
    calls[c].bytes += other.calls[c].bytes;
    ns[c] += other.ns[c];
  }
}

void count_call(Counted counted, std::uint64_t bytes) {
  sums_of(counted).calls.fetch_add(1, std::memory_order_relaxed);
  sums_of(counted).bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void add_time(Counted counted, std::uint64_t ns) {
  sums_of(counted).ns.fetch_add(ns, std::memory_order_relaxed);
}

CountedCalls process_counted() {
  CountedCalls all;
  for (int c = 0; c < kNumCounted; ++c) {
    all.calls[c] = {sums[c].calls.load(), sums[c].bytes.load()};
    all.ns[c] = sums[c].ns.load();
  }
  return all;
}

}  // namespace sumac
