// SPDX-License-Identifier: BSD-3-Clause
// A process's promoted memory lies in this file: a memfd in which a byte's offset *is* its address.
// So there is no allocator, a peer that has mapped a range of the file never has to map it anew,
// and the file itself is the record of what has been promoted: a hole was never promoted or is
// free.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "promotion/process_maps.h"
#include "promotion/refusals.h"

namespace sumac::promotion {

class MemoryFile {
 public:
  // Makes the file. Returns why that is not possible.
  Refusal open();
  // Closes it unless the program has. Mappings of it are still recognised.
  void close();
  int fd() const { return fd_; }
  std::uint64_t inode() const { return inode_; }
  std::uint64_t device() const { return device_; }
  // Returns how the links of /proc/self/map_files to this file, and to no other, begin.
  const char* link() const { return link_; }
  // Returns false once the program has closed the descriptor. Programs that close all descriptors,
  // also those that they did not open, do so; the number may then be another file's, in which no
  // hole may be made.
  bool is_own() const;

  // Returns true for a mapping of this file, at whatever place. It may be private, since the
  // process has left direct memory at a fork (fork_copies.cc).
  bool shows(const Mapping& mapping) const {
    return mapping.inode == inode_ && mapping.device == device_ && inode_ != 0;
  }
  // Returns true for one that is shared.
  bool has(const Mapping& mapping) const { return shows(mapping) && mapping.shared; }
  // Returns true for a mapping whose bytes lie at their own addresses. The program has moved the
  // others.
  bool in_place(const Mapping& mapping) const {
    return has(mapping) && mapping.offset == mapping.begin;
  }

  // Returns the bytes of memory that the file takes.
  std::size_t used() const;
  // Finds the first page at or after `from` that is not a hole. Returns false if there is none.
  bool next_data(std::uintptr_t from, std::uintptr_t& found) const;
  bool next_hole(std::uintptr_t from, std::uintptr_t& found) const;
  bool has_data(const Range& range) const {
    std::uintptr_t data = 0;
    return next_data(range.begin, data) && data < range.end;
  }
  // Makes the pages of the range exist. Returns false if there is no memory for them.
  bool fill(const Range& range) const;
  // Gives the memory of the range back: it then reads as zeros in all its mappings, in all
  // processes. Returns the bytes that this freed, in whole pages; the number is not exact while
  // another thread promotes.
  std::size_t punch(const Range& range) const;
  // Does the same for a part of a mapping, also if the program has closed the file. Returns false
  // with errno set if the kernel refuses, and adds to `freed`.
  bool punch(const Mapping& mapping, const Range& part, std::size_t& freed) const;

 private:
  int fd_ = -1;
  std::uint64_t inode_ = 0, device_ = 0;
  char link_[32] = "";
};

}  // namespace sumac::promotion
