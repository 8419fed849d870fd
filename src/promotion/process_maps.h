// SPDX-License-Identifier: BSD-3-Clause
// Asks the kernel what is mapped at an address: by the ioctl PROCMAP_QUERY of /proc/self/maps
// (Linux 6.11; 0.3 to 0.7 us), or by reading that file; and what kind of memory that is, which only
// /proc/self/smaps tells. Nothing here allocates or takes a lock, so that signal handlers and the
// child of a fork may call it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/descriptor.h"
#include "promotion/range.h"
#include "promotion/refusals.h"

namespace sumac::promotion {

class MapsText;

// This is what smaps says of one mapping, which a program or a library has made what it is by
// madvise, mlock, userfaultfd or protection keys.
struct Described : Mapping {
  Refusal refusal = Refusal::none;  // why its pages must stay as they are
  bool has_huge_pages = false;
  bool wants_huge_pages = false;    // MADV_HUGEPAGE
  bool forbids_huge_pages = false;  // MADV_NOHUGEPAGE, or MAP_STACK, which Linux takes for it
  bool above_guard = false;         // the pages below have no access
  char name[64] = {};               // a name that does not fit is a file's

  // Reads the next mapping. Returns false at the end.
  bool next(MapsText& text);
};

// This class reads /proc/self/maps or smaps line by line. maps is how kernels without PROCMAP_QUERY
// tell what is mapped. It costs 0.1 to 0.3 us for each mapping of the process up to the one that is
// looked for. smaps costs 5 to 10 us a mapping, and some 10 ns for each page that it has.
class MapsText {
 public:
  explicit MapsText(const char* path = "/proc/self/maps");
  ~MapsText();
  MapsText(const MapsText&) = delete;
  MapsText& operator=(const MapsText&) = delete;

  // Reads the next mapping, in ascending order. With `name`, of `name_bytes` bytes, it also gives
  // the name, as much of it as fits.
  bool next(Mapping& mapping, char* name = nullptr, std::size_t name_bytes = 0);
  // Reads what smaps tells of the mapping that next() has read. Returns false if it does not.
  bool describe(Described& mapping);
  bool is_open() const { return fd_ >= 0; }

 private:
  const char* line();
  bool fill();

  int fd_;
  char text_[2048];
  std::size_t at_ = 0, held_ = 0;
  bool of_long_line_ = false;  // the rest of a line that did not fit comes next
};

// A search says which mapping is meant, by the flags of PROCMAP_QUERY.
enum class Search : std::uint8_t {
  covering = 0,        // the one that holds the address
  next = 16,           // the one that holds it, or the first one above
  next_of_files = 48,  // as next, but only among mappings of files
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
  // it returns false. `act` may change the mapping that it is given, and those below. Returns false
  // with errno set if the kernel cannot be asked.
  template <typename Act>
  bool for_files(std::uintptr_t from, Act&& act) const;

 private:
  enum class Answer : std::uint8_t { found, none, unknown };
  // Unknown: there is no descriptor to ask by, or the program has closed it.
  Answer query(std::uintptr_t address, Search search, Mapping& mapping, char* name,
               std::size_t name_bytes) const;

  FileIdentity file_;
};

template <typename Act>
bool ProcessMaps::for_files(std::uintptr_t from, Act&& act) const {
  Mapping mapping;
  Answer answer = Answer::found;
  for (; answer == Answer::found; from = mapping.end) {
    answer = query(from, Search::next_of_files, mapping, nullptr, 0);
    if (answer == Answer::found && !act(mapping)) return true;
  }
  if (answer == Answer::none) return true;
  MapsText text;
  while (text.next(mapping)) {
    if (mapping.end > from && mapping.inode != 0 && !act(mapping)) break;
  }
  return text.is_open();
}

}  // namespace sumac::promotion
