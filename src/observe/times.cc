// SPDX-License-Identifier: BSD-3-Clause
#include "observe/times.h"

#include <atomic>
#include <cstdio>
#include <cstring>

namespace sumac {
namespace {

std::atomic<std::uint64_t> times[kNumCollectives][kNumPaths];  // in ticks

bool has_counter = false;
std::uint64_t start_ticks = 0, start_ns = 0;

std::uint64_t counter() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return clock_ns();
#endif
}

// Returns false if the kernel judges that the processor's counter may stop or differ between
// processors.
bool kernel_trusts_counter() {
  char name[32] = "";
  std::FILE* file =
      std::fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
  if (!file) return false;
  const bool read = std::fgets(name, sizeof name, file) != nullptr;
  std::fclose(file);
  return read && (std::strncmp(name, "tsc", 3) == 0 || std::strncmp(name, "arch_sys", 8) == 0);
}

}  // namespace

void start_timing() {
  has_counter = kernel_trusts_counter();
  start_ns = clock_ns();
  start_ticks = ticks();
}

std::uint64_t ticks() { return has_counter ? counter() : clock_ns(); }

bool add_time(Collective collective, int path, std::uint64_t more) {
  std::atomic<std::uint64_t>& sum = times[static_cast<int>(collective)][path];
  return sum.fetch_add(more ? more : 1, std::memory_order_relaxed) == 0;
}

Times process_times() {
  Times sum;
  const auto passed = static_cast<double>(ticks() - start_ticks);
  const double ns_a_tick = passed > 0 ? static_cast<double>(clock_ns() - start_ns) / passed : 1;
  for (int c = 0; c < kNumCollectives; ++c) {
    for (int p = 0; p < kNumPaths; ++p) {
      const auto in_ticks = static_cast<double>(times[c][p].load(std::memory_order_relaxed));
      sum.ns[c][p] = static_cast<std::uint64_t>(in_ticks * ns_a_tick);
    }
  }
  return sum;
}

}  // namespace sumac
