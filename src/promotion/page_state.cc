// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/page_state.h"

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace sumac::promotion {
namespace {

// This struct is as in <linux/fs.h> from Linux 6.7 on.
struct PageRegion {
  std::uint64_t start, end, categories;
};
struct PageScan {
  std::uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
  std::uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
static_assert(sizeof(PageScan) == 96);
constexpr unsigned long kPageScan = _IOWR('f', 16, PageScan);
constexpr std::uint64_t kHuge = 1 << 6;

// Calls act(range) for the runs of huge pages in `old`.
template <typename Act>
void for_huge_pages(const Range& old, Act&& act) {
  const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  PageRegion found[16];
  PageScan scan = {};
  scan.size = sizeof scan;
  scan.vec = reinterpret_cast<std::uintptr_t>(found);
  scan.vec_len = sizeof found / sizeof *found;
  scan.category_mask = scan.return_mask = kHuge;
  scan.end = old.end;
  for (scan.start = old.begin; scan.start < old.end; scan.start = scan.walk_end) {
    const int regions = ioctl(file, kPageScan, &scan);
    for (int i = 0; i < regions; ++i) act(Range{found[i].start, found[i].end});
    if (regions < 0 || scan.walk_end <= scan.start) break;
  }
  close(file);
}

constexpr int kMostNodes = 1024, kPagesAtOnce = 128, kMostRuns = 8;
constexpr int kWordBits = 8 * sizeof(unsigned long);
struct NodeMask {
  unsigned long words[kMostNodes / kWordBits] = {};
  void add(int node) { words[node / kWordBits] |= 1ul << node % kWordBits; }
};

void set_policy(std::byte* begin, std::size_t bytes, int policy, const NodeMask& nodes) {
  syscall(SYS_mbind, begin, bytes, policy, nodes.words, kMostNodes + 1ul, 0ul);
}

bool several_nodes() {
  static const bool several = [] {
    char text[64] = {};
    const int file = open("/sys/devices/system/node/has_memory", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    return got > 0 && std::strpbrk(text, ",-") != nullptr;
  }();
  return several;
}

// Places up to kPagesAtOnce pages. If they fall into many short runs, they were interleaved.
void place_block(const Range& old, std::byte* place) {
  void* pages[kPagesAtOnce];
  int nodes[kPagesAtOnce];
  const int count = static_cast<int>(old.bytes() / kPage);
  for (int i = 0; i < count; ++i) pages[i] = pointer(old.begin) + static_cast<long>(i) * kPage;
  if (syscall(SYS_move_pages, 0, static_cast<unsigned long>(count), pages, nullptr, nodes, 0)) {
    return;
  }
  int runs = 0;
  NodeMask all;
  for (int i = 0; i < count; ++i) {
    if (nodes[i] >= kMostNodes) return;
    if (nodes[i] >= 0) all.add(nodes[i]);  // negative: there is no page yet
    runs += i == 0 || nodes[i] != nodes[i - 1];
  }
  if (runs > kMostRuns) return set_policy(place, old.bytes(), MPOL_INTERLEAVE, all);
  for (int begin = 0, end = 0; begin < count; begin = end) {
    while (end < count && nodes[end] == nodes[begin]) ++end;
    if (nodes[begin] < 0) continue;
    NodeMask node;
    node.add(nodes[begin]);
    // The node is preferred, not bound: a full node must not end the program.
    set_policy(place + static_cast<long>(begin) * kPage,
               static_cast<std::size_t>(end - begin) * kPage, MPOL_PREFERRED, node);
  }
}

}  // namespace

bool can_scan_pages() {
  const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  PageScan scan = {};
  scan.size = sizeof scan;
  const bool known = ioctl(file, kPageScan, &scan) >= 0 || errno != ENOTTY;
  close(file);
  return known;
}

void place_alike(const MemoryFile& file, const Range& old) {
  if (!several_nodes()) return;
  // This uses a mapping of its own: one with several policies is divided, and could not be moved at
  // once.
  void* const mapped =
      mmap(nullptr, old.bytes(), PROT_NONE, MAP_SHARED, file.fd(), static_cast<off_t>(old.begin));
  if (mapped == MAP_FAILED) return;
  for (std::uintptr_t at = old.begin; at < old.end; at += kPagesAtOnce * kPage) {
    const Range block = old.within({at, at + kPagesAtOnce * kPage});
    place_block(block, static_cast<std::byte*>(mapped) + (at - old.begin));
  }
  munmap(mapped, old.bytes());
}

std::size_t make_huge_alike(const Range& old, std::byte* place, bool all) {
  std::size_t bytes = 0;
  const Range units = whole_units(old, kHugePage);
  const auto make_huge = [&](const Range& run) {
    const Range whole = whole_units(run, kHugePage);
    if (whole.empty()) return;
    std::byte* const there = place + (whole.begin - old.begin);
    // MADV_HUGEPAGE is not needed. It would divide the mapping, which then could not be moved at
    // once. A part without any page is not collapsed.
    for (std::size_t at = 0; at < whole.bytes(); at += kHugePage) {
      if (madvise(there + at, kPage, kPopulateWrite) != 0) return;
    }
    if (madvise(there, whole.bytes(), kCollapse) == 0) bytes += whole.bytes();
  };
  if (all) {
    make_huge(units);
  } else if (!units.empty()) {
    for_huge_pages(units, make_huge);
  }
  return bytes;
}

}  // namespace sumac::promotion
