// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace sumac {

// An open file of a process, as others find it: /proc/<pid>/fd/<descriptor>, if that has this
// device and inode.
struct FileIdentity {
  std::int32_t descriptor = -1;  // -1: none
  std::uint64_t device = 0, inode = 0;
};

}  // namespace sumac
