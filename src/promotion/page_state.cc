// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/page_state.h"

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace sumac::promotion {
namespace {

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
  constexpr const char* kPath = "/sys/devices/system/node/has_memory";
  static const bool several = file_says(kPath, ",") || file_says(kPath, "-");
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

void place_alike(const Range& old, int file) {
  if (!several_nodes()) return;
  // This uses a mapping of its own: one with several policies is divided, and could not be moved at
  // once.
  void* const mapped =
      mmap(nullptr, old.bytes(), PROT_NONE, MAP_SHARED, file, static_cast<off_t>(old.begin));
  if (mapped == MAP_FAILED) return;
  for (std::uintptr_t at = old.begin; at < old.end; at += kPagesAtOnce * kPage) {
    const Range block = old.within({at, at + kPagesAtOnce * kPage});
    place_block(block, static_cast<std::byte*>(mapped) + (at - old.begin));
  }
  munmap(mapped, old.bytes());
}

bool private_memory_is_huge() {
  static const bool is = file_says("/sys/kernel/mm/transparent_hugepage/enabled", "[always]");
  return is;
}

std::size_t touched_pages(const Range& range) {
  constexpr std::size_t kAtOnce = 1024;
  unsigned char there[kAtOnce];
  std::size_t touched = 0;
  for (std::uintptr_t at = range.begin; at < range.end; at += kAtOnce * kPage) {
    const Range part = range.within({at, at + kAtOnce * kPage});
    if (mincore(pointer(at), part.bytes(), there) != 0) return 0;
    for (std::size_t i = 0; i < part.bytes() / kPage; ++i) touched += there[i] & 1;
  }
  return touched;
}

bool file_says(const char* path, const char* word) {
  char text[128] = {};
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t got = ::read(file, text, sizeof text - 1);
  ::close(file);
  return got > 0 && std::strstr(text, word) != nullptr;
}

}  // namespace sumac::promotion
