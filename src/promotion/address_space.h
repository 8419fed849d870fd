// SPDX-License-Identifier: BSD-3-Clause
// Promotion asks the kernel in this one way about the process's memory and changes it, so that
// tests can simulate a kernel in which other threads act between any two calls.
//
// Promoted memory lies in a file in memory (memfd) in which a byte's offset *is* its address. So
// there is no allocator, a peer that has mapped a range of the file never has to map it anew, and
// the kernel has all records: each range of addresses is in one of these states, which is read from
// its mapping whenever it matters.
//
//   private      anonymous memory   promote() moves it into the file: then it is in place
//   in place     shows its own addresses in the file, shared; peers may reach into it
//   moved        shows others, shared, since remap(); nobody promotes at those others
//   left         shows the file privately, since a fork of a process that has left
//   gone         nothing shows it, or something else: sweep() gives its pages in the file back
//
// The functions return false with errno set if the kernel refuses. None allocates or takes a lock.
#pragma once

#include <functional>

#include "base/descriptor.h"
#include "promotion/process_maps.h"
#include "promotion/surroundings.h"

namespace sumac::promotion {

// This is what map() puts at some addresses.
struct Contents {
  enum class Source : std::uint8_t { zeros, file, file_privately };
  int protection;
  Source source = Source::zeros;
  std::uintptr_t offset = 0;  // in the file
};

class AddressSpace {
 public:
  virtual ~AddressSpace() = default;
  // Makes the file. Returns why that is not possible.
  virtual Refusal open(const KernelFeatures& without) = 0;
  virtual void close_file() = 0;
  enum class Fork : std::uint8_t { before, in_parent, in_child, child_is_ready };
  // Has a descriptor free to read the mappings by while the process forks. None is left in a child.
  virtual void at_fork(Fork when) = 0;
  const KernelFeatures& features() const { return features_; }
  virtual OpenDescriptors open_descriptors() = 0;

  // Returns true for a mapping of the file, at whatever place, also a private one.
  bool shows(const Mapping& mapping) const {
    return mapping.inode == file_.inode && mapping.device == file_.device && file_.inode != 0;
  }
  bool has(const Mapping& mapping) const { return shows(mapping) && mapping.shared; }
  bool in_place(const Mapping& mapping) const {
    return has(mapping) && mapping.offset == mapping.begin;
  }

  const FileIdentity& file() const { return file_; }
  // Returns false once the program has closed the descriptor. Programs that close all descriptors,
  // also those that they did not open, do so; the number may then be another file's, in which no
  // hole may be made.
  virtual bool file_is_own() = 0;
  virtual std::size_t used() = 0;  // returns the bytes of memory that the file takes
  // Finds the first page at or after `from` that is not a hole.
  virtual bool next_data(std::uintptr_t from, std::uintptr_t& found) = 0;
  bool has_data(const Range& range) {
    std::uintptr_t data = 0;
    return next_data(range.begin, data) && data < range.end;
  }
  virtual bool fill(const Range& offsets) = 0;  // makes the pages exist
  // Gives memory back: it then reads as zeros in all mappings, in all processes. With the address
  // at which it is mapped this works also if the program has closed the file.
  virtual bool punch(const Range& offsets, std::uintptr_t shown_at = 0) = 0;
  // Copies a part of the file, or of what a mapping shows of it if the program has closed the file.
  // The program may have forbidden to read the mapping. Holes are not copied.
  virtual bool read(const Range& offsets, std::uintptr_t to) = 0;
  virtual bool read(const Mapping& mapping, std::uintptr_t to) = 0;

  virtual bool find(std::uintptr_t address, Search search, Mapping& mapping) = 0;
  // Finds the readable and writable memory in place that holds the address. Kernels without
  // PROCMAP_QUERY do not tell protection that the program has taken from a whole mapping since it
  // was noted; peers' windows are not affected.
  virtual bool find_in_place(std::uintptr_t address, Mapping& mapping) {
    return find(address, Search::covering, mapping) && in_place(mapping) && mapping.readable &&
           mapping.writable;
  }
  // Calls act(mapping) for the mappings of files that end above `from`, in ascending order, until
  // it returns false. `act` may change the mapping that it is given, and those below. A reference
  // to it is passed on, so that nothing is allocated.
  template <typename Act>
  bool for_files(std::uintptr_t from, Act&& act) {
    return visit_files(from, std::ref(act));
  }
  virtual bool visit_files(std::uintptr_t from, const std::function<bool(const Mapping&)>& act) = 0;
  // Does so for all mappings, with what only smaps tells.
  virtual void describe(const std::function<bool(const Described&)>& act) = 0;
  virtual std::size_t touched_pages(const Range& anonymous) = 0;  // returns how many exist

  // Reserves a place where nothing is, or makes lazy memory there. Returns 0 if there is no room.
  virtual std::uintptr_t map_anywhere(std::size_t bytes, int protection) = 0;
  virtual bool map(const Range& range, const Contents& contents, bool replaces = true) = 0;
  virtual bool unmap(const Range& range) = 0;
  // Puts one mapping's pages over what is at `to`, in one step for other threads.
  virtual bool move(const Range& range, std::uintptr_t to) = 0;
  virtual bool protect(const Range& range, int protection) = 0;
  virtual bool advise(const Range& range, int advice) = 0;
  // Makes pages of the file that will replace these come from the same NUMA nodes.
  virtual void place_alike(const Range& range) = 0;
  virtual void copy(const Range& range, std::uintptr_t to) = 0;

 protected:
  KernelFeatures features_;
  FileIdentity file_;
};

AddressSpace& linux_space();

}  // namespace sumac::promotion
