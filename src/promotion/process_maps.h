// SPDX-License-Identifier: BSD-3-Clause
// Asks the kernel what is mapped at an address: by the ioctl PROCMAP_QUERY of /proc/self/maps
// (Linux 6.11; 0.3 to 0.7 us), or by reading that file (maps_text.h). Nothing here allocates or
// takes a lock, so that signal handlers and the child of a fork may call it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/file_identity.h"
#include "promotion/mapping.h"
#include "promotion/maps_text.h"

namespace sumac::promotion {

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
