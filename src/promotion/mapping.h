// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "promotion/range.h"

namespace sumac::promotion {

// The kernel describes one mapping by this.
struct Mapping : Range {
  std::uint64_t offset = 0;  // where `begin` is in the file
  std::uint64_t inode = 0;   // 0: it shows no file
  std::uint64_t device = 0;
  std::uint64_t page_bytes = 0;
  bool readable = false, writable = false, executable = false, shared = false;

  int protection() const;
  // Returns where the byte at `address` lies in the file.
  std::uint64_t offset_of(std::uintptr_t address) const { return offset + (address - begin); }
};

}  // namespace sumac::promotion
