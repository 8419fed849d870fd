// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace sumac {

// Moves an open file to a descriptor from 48 on, if there is one: programs count on low numbers
// being theirs. Not from 64 on: a process begins with a table of 64, and in one with threads Linux
// makes it larger only after a grace period of its read-copy-update, which takes 10 to 20 ms.
// Returns the descriptor; -1 stays -1.
inline int off_low_numbers(int descriptor) {
  constexpr int kLowest = 48;
  const int high = descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, kLowest);
  if (high < 0) return descriptor;
  close(descriptor);
  return high;
}

}  // namespace sumac
