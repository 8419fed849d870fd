// SPDX-License-Identifier: BSD-3-Clause
// The few instructions C++ has no name for.
#pragma once

namespace sumac {

// In a loop that polls: saves power, and the pipeline from guessing at the other core's store.
inline void cpu_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

// Asks for a line that will soon be written, while there is time to wait for it.
inline void prefetch_for_write(const void* line) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" ::"m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace sumac
