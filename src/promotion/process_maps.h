// SPDX-License-Identifier: BSD-3-Clause
// Asks the kernel what is mapped at an address, by the ioctl PROCMAP_QUERY of /proc/self/maps
// (Linux 6.11; 0.3 to 0.7 us). Nothing here allocates or takes a lock, so that signal handlers and
// the child of a fork may call it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "promotion/range.h"

namespace sumac::promotion {

// One mapping, as the kernel describes it.
struct Mapping : Range {
  std::uint64_t offset = 0;  // of `begin` in the file
  std::uint64_t inode = 0;   // 0: of no file
  std::uint64_t device = 0;
  std::uint64_t page_bytes = 0;
  bool readable = false, writable = false, executable = false, shared = false;

  int protection() const;
  // Where the byte at `address` lies in the file.
  std::uint64_t offset_of(std::uintptr_t address) const { return offset + (address - begin); }
};

// Which mapping is meant.
enum class Search : std::uint8_t {
  covering,       // the one that holds the address
  next,           // that one, or the first one above
  next_of_files,  // the same, of the mappings of files alone
};

class ProcessMaps {
 public:
  // Returns false where the kernel cannot be asked. The child of a fork opens anew: the descriptor
  // stays with the address space it was opened for.
  bool open();
  void close();
  // Returns false when there is no such mapping. With `name`, of `name_bytes` bytes, also tells its
  // name ("[heap]", "[stack]", a path, ""), which costs more.
  bool find(std::uintptr_t address, Search search, Mapping& mapping, char* name = nullptr,
            std::size_t name_bytes = 0) const;

 private:
  int fd_ = -1;
};

}  // namespace sumac::promotion
