// SPDX-License-Identifier: BSD-3-Clause
// These functions wrap instructions that C++ has no name for.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace sumac {

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
