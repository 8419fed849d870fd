// SPDX-License-Identifier: BSD-3-Clause
#include "observe/stats.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace sumac {
namespace {

std::atomic<bool> one_at_a_time{false};

// Adds without a locked instruction if the counter has only one writer; a locked one costs as much
// as reducing a few elements.
void add_to(std::atomic<std::uint64_t>& sum, std::uint64_t n) {
  if (one_at_a_time.load(std::memory_order_relaxed)) {
    sum.store(sum.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  } else {
    sum.fetch_add(n, std::memory_order_relaxed);
  }
}

// Any thread may add to this count without a lock. It serves calls that belong to no communicator.
struct AtomicCount {
  std::atomic<std::uint64_t> calls{0}, bytes{0};

  void add(std::uint64_t n, std::uint64_t more_calls = 1) {
    add_to(calls, more_calls);
    add_to(bytes, n);
  }
  PathCount get() const { return {calls.load(), bytes.load()}; }
};

std::mutex mutex;
Stats ended;
AtomicCount handed[kNumCollectives][kNumReasons];
AtomicCount local[kNumCollectives];
AtomicCount taken[kNumAlgorithms];
std::atomic<std::uint64_t> threads[kNumThreadUses];
std::atomic<std::uint64_t> checks[kNumCheckUses];
std::atomic<std::uint64_t> obstacles[kNumObstacles];
std::atomic<std::uint64_t> messages[kNumMessageUses];
std::atomic<std::uint64_t> devices[kNumDeviceUses];

void merge_into(PathCount& to, const PathCount& from) {
  to.calls += from.calls;
  to.bytes += from.bytes;
}

}  // namespace

const char* text_of(Reason reason) {
  static constexpr const char* kTexts[] = {
#define SUMAC_REASON(name, text) "mpi: " text,
#include "observe/reasons.def"
#undef SUMAC_REASON
  };
  return kTexts[static_cast<int>(reason)];
}

const char* name_of_path(int path) {
  if (path < kLocalPath) return info_of(static_cast<Algorithm>(path)).name;
  if (path == kLocalPath) return "local";
  if (path < kNumPaths) return text_of(static_cast<Reason>(path - kFirstReasonPath));
  return path == kCountedPath ? "mpi: Sumac does not serve this collective" : "";
}

void CallCounts::merge(const CallCounts& other) {
  used |= other.used;
  for (int a = 0; other.used & kTaken && a < kNumAlgorithms; ++a) {
    merge_into(taken[a], other.taken[a]);
  }
  for (const CollectiveInfo& info : kCollectives) {
    if (!(other.used & bit_of(info.collective))) continue;
    const int c = static_cast<int>(info.collective);
    merge_into(local[c], other.local[c]);
    for (int r = 0; r < kNumReasons; ++r) merge_into(handed[c][r], other.handed[c][r]);
  }
}

void CallCounts::clear() {
  if (used & kTaken) std::ranges::fill(taken, PathCount());
  for (const CollectiveInfo& info : kCollectives) {
    if (!(used & bit_of(info.collective))) continue;
    const int c = static_cast<int>(info.collective);
    local[c] = {};
    std::ranges::fill(handed[c], PathCount());
  }
  used = 0;
}

void Stats::merge(const Stats& other) {
  CallCounts::merge(other);
  for (int u = 0; u < kNumThreadUses; ++u) threads[u] += other.threads[u];
  for (int u = 0; u < kNumCheckUses; ++u) checks[u] += other.checks[u];
  for (int u = 0; u < kNumMessageUses; ++u) messages[u] += other.messages[u];
  for (int u = 0; u < kNumDeviceUses; ++u) devices[u] += other.devices[u];
  for (int u = 0; u < kNumMemoryUses; ++u) memory[u] += other.memory[u];
  for (int r = 0; r < kNumRefusals; ++r) refusals[r] += other.refusals[r];
  for (int o = 0; o < kNumObstacles; ++o) obstacles[o] += other.obstacles[o];
}

void add_to_process_stats(const CallCounts& counts) {
  const std::lock_guard<std::mutex> lock(mutex);
  ended.CallCounts::merge(counts);
}

void set_one_call_at_a_time(bool is_so) { one_at_a_time.store(is_so, std::memory_order_relaxed); }

void count_process_hand_down(Collective collective, Reason reason, std::uint64_t bytes,
                             std::uint64_t calls) {
  handed[static_cast<int>(collective)][static_cast<int>(reason)].add(bytes, calls);
}

void count_process_local(Collective collective, std::uint64_t bytes) {
  local[static_cast<int>(collective)].add(bytes);
}

void count_process_taken(Algorithm algorithm, std::uint64_t bytes) {
  taken[static_cast<int>(algorithm)].add(bytes);
}

void count_thread_use(ThreadUse use) {
  threads[static_cast<int>(use)].fetch_add(1, std::memory_order_relaxed);
}

void count_check_use(CheckUse use) {
  checks[static_cast<int>(use)].fetch_add(1, std::memory_order_relaxed);
}

void count_obstacle(Obstacle obstacle) {
  obstacles[static_cast<int>(obstacle)].fetch_add(1, std::memory_order_relaxed);
}

void count_message_use(MessageUse use) {
  messages[static_cast<int>(use)].fetch_add(1, std::memory_order_relaxed);
}

void count_device_use(DeviceUse use, std::uint64_t by) {
  devices[static_cast<int>(use)].fetch_add(by, std::memory_order_relaxed);
}

Stats process_stats() {
  const std::lock_guard<std::mutex> lock(mutex);
  Stats sum = ended;
  sum.used = CallCounts::kAll;
  for (int a = 0; a < kNumAlgorithms; ++a) merge_into(sum.taken[a], taken[a].get());
  for (int c = 0; c < kNumCollectives; ++c) {
    merge_into(sum.local[c], local[c].get());
    for (int r = 0; r < kNumReasons; ++r) merge_into(sum.handed[c][r], handed[c][r].get());
  }
  for (int u = 0; u < kNumThreadUses; ++u) sum.threads[u] = threads[u].load();
  for (int u = 0; u < kNumCheckUses; ++u) sum.checks[u] = checks[u].load();
  for (int o = 0; o < kNumObstacles; ++o) sum.obstacles[o] = obstacles[o].load();
  for (int u = 0; u < kNumMessageUses; ++u) sum.messages[u] = messages[u].load();
  for (int u = 0; u < kNumDeviceUses; ++u) sum.devices[u] = devices[u].load();
  return sum;
}

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
