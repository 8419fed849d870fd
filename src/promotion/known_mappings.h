// SPDX-License-Identifier: BSD-3-Clause
// This class remembers mappings of the file of promoted memory. Kernels without PROCMAP_QUERY are
// asked by it whether a buffer is still promoted, without a reading of /proc/self/maps at every
// use.
//
// Idea: /proc/self/map_files has a link for each mapping of a file, by its first and last address,
// which tells the file's name; this file's name is its own. A mapping that the program has
// unmapped, divided or covered has no such link any more.
// Cost: 2 to 4 us a buffer; a reading of /proc/self/maps where the link is not there.
// The link does not tell the offset. Only mremap() makes a mapping at other addresses than its
// offset. The program's calls of that come to remap(), and those inside the C library fail on
// promoted memory (sweep.cc). So the only program that is not understood is one that makes the
// system call itself, and puts one promoted buffer exactly where another one is or was.
#pragma once

#include "base/descriptor.h"
#include "promotion/range.h"

namespace sumac::promotion {

class KnownMappings {
 public:
  // Says which name the file has, and no other.
  void recognise(const char* name);
  // Returns false if the kernel does not show these links.
  bool open();
  void close() { close_own(directory_); }
  // Finds the mapping of the file, noted before, that holds the address, if it is still there.
  bool find(std::uintptr_t address, Range& mapping) const;
  // Forgets what was noted in the range, to which the program moves memory.
  void forget(const Range& range);
  // Notes a mapping that is in place. Any thread may call it.
  void note(const Range& mapping);

 private:
  static constexpr std::size_t kMost = 64;

  FileIdentity directory_;
  char link_[40] = "";  // the links' text begins like this
  ChangingRange mappings_[kMost];
  std::atomic<std::uint32_t> next_{0};
};

}  // namespace sumac::promotion
