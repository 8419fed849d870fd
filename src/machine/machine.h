// SPDX-License-Identifier: BSD-3-Clause
// This process can find out these facts about its machine alone.
#pragma once

#include <cstdint>

namespace sumac {

inline constexpr int kMaskWords = 16;

// The mask has the processors that this process may run on, up to 1024 of them.
struct CpuMask {
  std::uint64_t words[kMaskWords] = {};

  void add(const CpuMask& other) {
    for (int i = 0; i < kMaskWords; ++i) words[i] |= other.words[i];
  }
  int count() const {
    int n = 0;
    for (std::uint64_t word : words) n += __builtin_popcountll(word);
    return n;
  }
};

CpuMask own_cpus();

// Returns the whole processors that the control group allows (cpu.max); 0 if there is no limit.
int cpu_quota();

// Returns a number that is equal for processes that are taken to share memory: same boot of the
// same kernel, same PID namespace, same user, and same /dev/shm, as MPIs go by that.
std::uint64_t node_id();

// Returns a number that is equal for processes that share processors: same boot of the same kernel,
// in whatever containers.
std::uint64_t machine_id();

}  // namespace sumac
