// SPDX-License-Identifier: BSD-3-Clause
// Only /proc/self/smaps tells these properties of private mappings (VmFlags): what a program or a
// library has set by madvise, mlock, userfaultfd or protection keys, which one is a thread's stack,
// and whether there are huge pages.
//
// To print this file, the kernel walks the page tables of the whole process: 10 us a mapping and
// some 10 ns for each 4-KiB page, milliseconds in all. So the result of one reading serves for
// kServesTimes as long as it took, unless the program has called madvise() for something special
// since. What else may be set in between is missed (pkey_mprotect, calls inside the C library),
// except for what is checked anew each time: whether the memory is locked, by msync, and whether it
// looks like a thread's stack, by the mapping below (page_mover.cc).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "promotion/range.h"
#include "promotion/refusals.h"

namespace sumac::promotion {

class Properties {
 public:
  // A reading serves for so many times as long as it took, which bounds the share of time that
  // reading takes. Huge pages come by themselves, so readings serve for less long if they are
  // looked for here (KernelFeatures::scans).
  static constexpr std::uint64_t kServesTimes = 200, kServesTimesForHuge = 20;
  void serve_times(std::uint64_t times) { serves_times_ = times; }

  // Returns why the private anonymous mapping's part `range` must stay as it is; none: nothing
  // speaks against its promotion. `exact` asks for the present state, whatever that costs.
  Refusal of(const Range& range, bool exact);
  // Tells that the program has called madvise(). Any thread, and signal handlers, may call it.
  void note_advice(int advice);
  // Returns true if a mapping that the range is in had huge pages when the properties were last
  // read.
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
  std::uint64_t serves_times_ = kServesTimes, read_at_ns_ = 0, took_ns_ = 0;
  std::atomic<bool> outdated_{false};
  bool known_ = false;
  // These describe the mapping being read.
  Range current_, below_;
  bool below_guards_ = false, guards_ = false, of_interest_ = false;
};

}  // namespace sumac::promotion
