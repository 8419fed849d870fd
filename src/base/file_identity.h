// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace sumac {

// Another process finds this open file at /proc/<pid>/fd/<descriptor>; the file there is the same
// one only if it has this device and inode.
struct FileIdentity {
  std::int32_t descriptor = -1;  // -1: none
  std::uint64_t device = 0, inode = 0;
};

}  // namespace sumac
