// SPDX-License-Identifier: BSD-3-Clause
// Message sizes worth testing: around every threshold of the rules and of the shared-memory layout.
#pragma once

#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <set>
#include <vector>

#include "rules/rules.h"
#include "transport/shm/layout.h"

namespace test {

// Sizes in bytes at which the algorithm or the number of slots, lines or chunks changes.
inline std::set<std::size_t> thresholds() {
  const sumac::Layout layout;
  std::set<std::size_t> all{64, 1 << 10, 4 << 10, 64 << 10, 128 << 10, 512 << 10, 1 << 20};
  // Multiples of a cache line, and of a cache line less its 8-byte flag.
  for (std::size_t lines = 1; lines <= 40; ++lines) all.insert({56 * lines, 64 * lines});
  for (const sumac::Rule& rule : sumac::shipped_rules().rules) {
    if (rule.bytes.low > 0) all.insert(rule.bytes.low - 1);
    if (rule.bytes.high != UINT64_MAX) all.insert(rule.bytes.high);
  }
  for (std::size_t slots : {1u, 2u, 3u}) all.insert(slots * layout.slot_bytes);
  all.insert(layout.ring * layout.slot_bytes);
  all.insert((2 * layout.ring + 1) * layout.slot_bytes);
  return all;
}

// Element counts of at most `most` bytes: 0, 1, 2, each threshold and one element to either side, a
// few odd counts, and the largest.
inline std::vector<std::size_t> counts(std::size_t element, std::size_t most) {
  std::set<std::size_t> all{most / element};
  for (std::size_t n : {0, 1, 2, 13, 1001}) {
    if (n * element <= most) all.insert(n);
  }
  for (std::size_t bytes : thresholds()) {
    for (std::size_t n : {bytes / element - 1, bytes / element, bytes / element + 1}) {
      if (n * element <= most) all.insert(n);
    }
  }
  return {all.begin(), all.end()};
}

// Whether this process may access another process's memory at all. A process may always access its
// own, unless the system call is refused altogether.
inline bool attach_is_allowed() {
  char from = 1, to = 0;
  const iovec here{&to, 1}, there{&from, 1};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1;
}

}  // namespace test
