// SPDX-License-Identifier: BSD-3-Clause
// This header has what code must know of the processor: the units of its memory, its clocks, and
// instructions that C++ has no name for.
#pragma once

#include <time.h>

#include <cstddef>
#include <cstdint>

namespace sumac {

inline constexpr std::size_t kCacheLine = 64;
// Processors prefetch lines in pairs, so data that two writers write stay this far apart.
inline constexpr std::size_t kFalseSharingRange = 128;
inline constexpr std::size_t kPage = 4096;
// A process maps the memory of another one in windows of so many bytes, each as a whole.
inline constexpr std::size_t kPeerWindow = std::size_t{1} << 30;

// Returns the smallest multiple of `unit` that is at least n.
constexpr std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

constexpr std::size_t div_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit; }

// Returns nanoseconds of a clock, by default since the machine was started.
inline std::uint64_t clock_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// Pauses inside a loop that polls. The pause saves power and keeps the pipeline from speculating on
// the other core's store.
inline void cpu_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

// Reads a clock in some ten nanoseconds. It counts in units of its own, so only ratios of its times
// mean anything.
inline std::uint64_t cpu_ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return clock_ns();
#endif
}

// Requests a cache line that will be written soon, while this thread waits anyway.
inline void prefetch_for_write(const void* line) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" ::"m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace sumac
