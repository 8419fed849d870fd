// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_identity.h"

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

// For descriptors that stay open: which file that is; none where it is not open.
inline FileIdentity identity_of(int descriptor) {
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status) != 0) return {};
  return {descriptor, status.st_dev, status.st_ino};
}

// False once the program has closed the descriptor, as those do that close all which they did not
// open: its number may be another file's by now.
inline bool is_still_open(const FileIdentity& file) {
  const FileIdentity now = identity_of(file.descriptor);
  return now.descriptor >= 0 && now.device == file.device && now.inode == file.inode;
}

// Closes it unless the program has.
inline void close_own(FileIdentity& file) {
  if (is_still_open(file)) close(file.descriptor);
  file = {};
}

}  // namespace sumac
