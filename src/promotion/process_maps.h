// SPDX-License-Identifier: BSD-3-Clause
// Asks the kernel what is mapped at an address: by the ioctl PROCMAP_QUERY of /proc/self/maps
// (Linux 6.11; 0.3 to 0.7 us), or by reading that file. Nothing here allocates or
// takes a lock, so that signal handlers and the child of a fork may call it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/descriptor.h"
#include "promotion/range.h"

namespace sumac::promotion {

// This class reads /proc/self/maps line by line, which is how kernels without PROCMAP_QUERY tell
// what is mapped. It costs 0.1 to 0.3 us for each mapping of the process up to the one that is
// looked for.
class MapsText {
 public:
  MapsText();
  ~MapsText();
  MapsText(const MapsText&) = delete;
  MapsText& operator=(const MapsText&) = delete;

  // Reads the next mapping, in ascending order. With `name`, of `name_bytes` bytes, it also gives
  // the name, as much of it as fits.
  bool next(Mapping& mapping, char* name = nullptr, std::size_t name_bytes = 0);

 private:
  const char* line();
  bool fill();

  int fd_;
  char text_[1024];
  std::size_t at_ = 0, held_ = 0;
  bool of_long_line_ = false;  // the rest of a line that did not fit comes next
};

// A search says which mapping is meant.
enum class Search : std::uint8_t {
  covering,       // the one that holds the address
  next,           // the one that holds it, or the first one above
  next_of_files,  // as next, but only among mappings of files
};

class ProcessMaps {
 public:
  static bool can_query();
  // Returns false if the kernel cannot be asked. The child of a fork must open anew: the descriptor
  // stays with the address space it was opened for.
  bool open(bool by_query);
  void close();
  bool by_query() const { return file_.descriptor >= 0; }
  // Returns false if there is no such mapping. With `name`, of `name_bytes` bytes, it also tells
  // the name ("[heap]", "[stack]", a path, ""), which costs more.
  bool find(std::uintptr_t address, Search search, Mapping& mapping, char* name = nullptr,
            std::size_t name_bytes = 0) const;
  // Calls act(mapping) for the mappings of files that end above `from`, in ascending order, until
  // it returns false. `act` may change the mapping that it is given, and those below.
  template <typename Act>
  void for_files(std::uintptr_t from, Act&& act) const;

 private:
  bool query(std::uintptr_t address, Search search, Mapping& mapping, char* name,
             std::size_t name_bytes) const;

  FileIdentity file_;
};

template <typename Act>
void ProcessMaps::for_files(std::uintptr_t from, Act&& act) const {
  Mapping mapping;
  if (!by_query()) {
    MapsText text;
    while (text.next(mapping)) {
      if (mapping.end > from && mapping.inode != 0 && !act(mapping)) return;
    }
    return;
  }
  for (; find(from, Search::next_of_files, mapping); from = mapping.end) {
    if (!act(mapping)) return;
  }
}

}  // namespace sumac::promotion
