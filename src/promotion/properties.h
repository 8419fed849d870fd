// SPDX-License-Identifier: BSD-3-Clause
// The properties of private mappings that only /proc/self/smaps tells (VmFlags): what a program or
// a library has set by madvise, mlock, userfaultfd or protection keys, what is a thread's stack,
// and whether there are huge pages.
//
// Cost: the kernel walks the page tables of the whole process to print this file, 10 us a mapping
// and some 10 ns for each 4-KiB page. So the result of one reading serves for 20 times as long as
// it took: a twentieth of the time at most is spent. A property set in between is missed. What is
// checked anew each time is whether the memory is locked (cheaply, by msync).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "promotion/range.h"
#include "promotion/refusals.h"

namespace sumac::promotion {

class Properties {
 public:
  // Why the private anonymous mapping's part `range` must stay as it is; none: nothing speaks
  // against its promotion. `exact`: as it is now, whatever that costs.
  Refusal of(const Range& range, bool exact);
  // Whether a mapping that the range is in had huge pages when the properties were last read.
  bool has_huge_pages(const Range& range) const;

 private:
  struct Marked {
    Range range;
    Refusal refusal;
  };
  void read();
  void take_line(const char* line);
  void take_mapping(const char* line);
  Refusal look_up(const Range& range) const;

  std::vector<Marked> marked_;
  std::vector<Range> huge_;
  std::uint64_t read_at_ns_ = 0, took_ns_ = 0;
  bool known_ = false;
  // of the mapping being read
  Range current_, below_;
  bool below_guards_ = false, guards_ = false, of_interest_ = false;
};

}  // namespace sumac::promotion
