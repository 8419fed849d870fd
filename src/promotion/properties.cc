// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/properties.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>

#include "base/cpu.h"

namespace sumac::promotion {
namespace {

constexpr std::size_t kMostMarked = 4096;

// These are the flags of ordinary memory, so that a flag of a future kernel refuses. The list
// lacks, among others: dc (MADV_DONTFORK: pages that a device uses), wf (MADV_WIPEONFORK), dd
// (MADV_DONTDUMP: the core dump of a shared page would show it), mg (MADV_MERGEABLE), um uw ui
// (userfaultfd), lo lf (locked), io pf mm (devices), ht (huge page file system), gd (a stack that
// grows), sl (sealed: mremap would fail), mt (memory tags), ss (shadow stack), ex (executable).
constexpr const char kOrdinary[][3] = {"rd", "wr", "mr", "mw", "me", "ac",
                                       "nr", "sd", "hg", "nh", "sr", "rr"};

bool ordinary(const char* flag) {
  for (const char* known : kOrdinary) {
    if (std::strncmp(flag, known, 2) == 0) return true;
  }
  return false;
}

// Judges a line such as "VmFlags: rd wr mr mw me ac". Returns none if all flags are ordinary. `nh`
// says that MADV_NOHUGEPAGE is among them.
Refusal judge_flags(const char* flags, bool& nh) {
  Refusal refusal = Refusal::none;
  for (const char* at = flags; *at && *at != '\n'; at += *at == ' ' ? 1 : 2) {
    if (*at == ' ' || at[1] == 0) continue;
    if (std::strncmp(at, "nh", 2) == 0) nh = true;
    if (std::strncmp(at, "gd", 2) == 0) return Refusal::stack;
    if (std::strncmp(at, "lo", 2) == 0) refusal = Refusal::locked;
    if (!ordinary(at) && refusal == Refusal::none) refusal = Refusal::special;
  }
  return refusal;
}

}  // namespace

// The line is such as "7f12..-7f13.. rw-p 00000000 00:00 0 [heap]".
void Properties::take_mapping(const char* line) {
  char* at = nullptr;
  below_ = current_;
  below_guards_ = guards_;
  current_.begin = std::strtoul(line, &at, 16);
  current_.end = *at == '-' ? std::strtoul(at + 1, &at, 16) : 0;
  const char* const access = at + 1;
  std::strtoul(access + 5, &at, 16);  // skips the offset
  while (*at == ' ') ++at;
  while (*at && *at != ' ') ++at;  // skips the device
  const bool of_file = std::strtoul(at, &at, 10) != 0;
  guards_ = std::strncmp(access, "---p", 4) == 0;
  of_interest_ = !of_file && std::strncmp(access, "rw-p", 4) == 0;
}

// A mapping has some 25 lines, few of which matter, so the others must cost as little as possible.
void Properties::take_line(const char* line) {
  // Lines that begin with a capital letter tell of the mapping above.
  if (*line < 'A' || *line > 'Z') return take_mapping(line);
  if (!of_interest_) return;
  const auto mark = [&](Refusal refusal) {
    if (marked_.size() < kMostMarked) marked_.push_back({current_, refusal});
  };
  if (*line == 'P' && std::strncmp(line, "ProtectionKey:", 14) == 0 && std::atoi(line + 14) != 0) {
    mark(Refusal::special);
  }
  if (*line == 'A' && std::strncmp(line, "AnonHugePages:", 14) == 0 && std::atol(line + 14) != 0) {
    if (huge_.size() < kMostMarked) huge_.push_back(current_);
  }
  if (*line != 'V' || std::strncmp(line, "VmFlags: ", 9) != 0) return;
  bool nh = false;
  Refusal refusal = judge_flags(line + 9, nh);
  // The C library maps threads' stacks with MAP_STACK, which Linux takes for MADV_NOHUGEPAGE, above
  // pages without access.
  if (nh && below_guards_ && below_.end == current_.begin) refusal = Refusal::stack;
  if (refusal != Refusal::none) mark(refusal);
}

void Properties::read() {
  const std::uint64_t start = clock_ns();
  outdated_.store(false);
  marked_.clear();
  huge_.clear();
  current_ = below_ = {};
  below_guards_ = guards_ = known_ = false;
  const int file = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  // Lines that do not fit are paths of files.
  constexpr std::size_t kRoom = 8191;
  const auto memory = std::make_unique<char[]>(kRoom + 1);
  char* const text = memory.get();
  std::size_t held = 0;
  ssize_t got = 0;
  while ((got = ::read(file, text + held, kRoom - held)) > 0) {
    held += static_cast<std::size_t>(got);
    text[held] = 0;
    char* line = text;
    while (char* end = std::strchr(line, '\n')) {
      *end = 0;
      take_line(line);
      line = end + 1;
    }
    held -= static_cast<std::size_t>(line - text);
    std::memmove(text, line, held);
    if (held == kRoom) held = 0;
  }
  known_ = got == 0 && marked_.size() < kMostMarked;
  close(file);
  read_at_ns_ = clock_ns();
  took_ns_ = read_at_ns_ - start;
}

bool Properties::has_huge_pages(const Range& range) const {
  return std::any_of(huge_.begin(), huge_.end(),
                     [&](const Range& huge) { return !huge.within(range).empty(); });
}

Refusal Properties::look_up(const Range& range) const {
  for (const Marked& marked : marked_) {
    if (!marked.range.within(range).empty()) return marked.refusal;
  }
  return Refusal::none;
}

void Properties::note_advice(int advice) {
  // Advice that sets none of the flags that matter here, also Sumac's own; the last ones are
  // MADV_COLD to MADV_COLLAPSE, which older systems' headers lack.
  constexpr int kHarmless[] = {MADV_NORMAL,
                               MADV_RANDOM,
                               MADV_SEQUENTIAL,
                               MADV_WILLNEED,
                               MADV_DONTNEED,
                               MADV_FREE,
                               MADV_HUGEPAGE,
                               MADV_NOHUGEPAGE,
                               MADV_REMOVE,
                               20,
                               21,
                               22,
                               23,
                               24,
                               25};
  if (std::find(std::begin(kHarmless), std::end(kHarmless), advice) == std::end(kHarmless)) {
    outdated_.store(true);
  }
}

Refusal Properties::of(const Range& range, bool exact) {
  // On anonymous memory msync() only finds out whether it is locked.
  if (msync(pointer(range.begin), range.bytes(), MS_INVALIDATE) != 0 && errno == EBUSY) {
    return Refusal::locked;
  }
  const bool serves =
      known_ && !exact && !outdated_.load() && clock_ns() - read_at_ns_ <= serves_times_ * took_ns_;
  if (!serves) read();
  if (!known_) return Refusal::special;
  Refusal refusal = look_up(range);
  if (serves && refusal != Refusal::none) {  // the mapping may be a new one
    read();
    refusal = look_up(range);
  }
  return refusal;
}

}  // namespace sumac::promotion
