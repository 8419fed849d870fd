// SPDX-License-Identifier: BSD-3-Clause
// The file of a process's promoted memory: a memfd in which a byte's offset *is* its address. So
// there is no allocator, a peer that has mapped a range of the file never has to map it anew, and
// the file itself is the record of what has been promoted: a hole was never promoted or is free.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "promotion/process_maps.h"
#include "promotion/refusals.h"

namespace sumac::promotion {

class MemoryFile {
 public:
  // Makes the file. Returns why it cannot be had.
  Refusal open();
  void close();  // unless the program has
  int fd() const { return fd_; }
  std::uint64_t inode() const { return inode_; }
  std::uint64_t device() const { return device_; }
  // How /proc/self/map_files links to the file begins so, and to no other file.
  const char* link() const { return link_; }
  // False once the program has closed the descriptor, of which programs that close all descriptors
  // they did not open are capable: it may be another file's by now, in which no hole may be made.
  bool is_own() const;

  // True for a mapping of this file, at whatever place.
  bool has(const Mapping& mapping) const {
    return mapping.inode == inode_ && mapping.device == device_ && inode_ != 0 && mapping.shared;
  }
  // True for one whose bytes lie at their own addresses. The others were moved by the program.
  bool in_place(const Mapping& mapping) const {
    return has(mapping) && mapping.offset == mapping.begin;
  }

  // Bytes of memory that the file takes.
  std::size_t used() const;
  // The first page at or after `from` that is not a hole; no page: false.
  bool next_data(std::uintptr_t from, std::uintptr_t& found) const;
  bool next_hole(std::uintptr_t from, std::uintptr_t& found) const;
  // Makes the pages of the range exist. Returns false where there is no memory for them.
  bool fill(const Range& range) const;
  // Gives the memory of the range back: it reads as zeros in all its mappings, in all processes.
  // Returns the bytes that this freed, of whole pages; without exactness while another thread
  // promotes.
  std::size_t punch(const Range& range) const;

 private:
  int fd_ = -1;
  std::uint64_t inode_ = 0, device_ = 0;
  char link_[32] = "";
};

}  // namespace sumac::promotion
