// SPDX-License-Identifier: BSD-3-Clause
// The program calls mremap() on memory that is promoted, or was before a fork.
//
// Idea: the memory is made private again, and one mapping again, for the kernel resizes one mapping
// only. It joins new private pages to those beside them, but not where the program has moved these
// before, nor in a child: there all pages move to a new mapping, which takes the old ones' place.
// Cost: a copy of what was promoted; where the kernel does not join it, of the whole range.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "promotion/service.h"

namespace sumac::promotion {
namespace {

// Copies those pages that exist; the others read as zeros.
bool copy_pages(const Range& range, std::byte* to) {
  constexpr std::uint64_t kInMemoryOrSwapped = std::uint64_t{3} << 62;
  constexpr std::size_t kAtOnce = 256;
  const int pagemap = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pagemap < 0) return false;
  std::uint64_t states[kAtOnce];
  bool all = true;
  for (std::uintptr_t at = range.begin; all && at < range.end; at += kAtOnce * kPage) {
    const std::size_t pages = range.within({at, at + kAtOnce * kPage}).bytes() / kPage;
    const auto bytes = static_cast<ssize_t>(pages * sizeof *states);
    const auto offset = static_cast<off_t>(at / kPage * sizeof *states);
    all = pread(pagemap, states, static_cast<std::size_t>(bytes), offset) == bytes;
    for (std::size_t i = 0; all && i < pages; ++i) {
      const std::uintptr_t page = at + i * kPage;
      if (states[i] & kInMemoryOrSwapped) {
        std::memcpy(to + (page - range.begin), pointer(page), kPage);
      }
    }
  }
  ::close(pagemap);
  return all;
}

bool is_ordinary(const Mapping& mapping) {
  return mapping.inode == 0 && !mapping.shared && mapping.readable && mapping.writable &&
         !mapping.executable && mapping.page_bytes == kPage;
}

// Returns true if the range is several mappings of ordinary memory.
bool is_divided(const ProcessMaps& maps, const Range& range) {
  Mapping mapping;
  int count = 0;
  for (std::uintptr_t at = range.begin; at < range.end; at = mapping.end, ++count) {
    if (!maps.find(at, Search::covering, mapping) || !is_ordinary(mapping)) return false;
  }
  return count > 1;
}

// Makes one mapping of several. Returns false if there is no memory for it.
bool join(const ProcessMaps& maps, const Range& range) {
  if (!is_divided(maps, range)) return true;
  void* const place =
      mmap(nullptr, range.bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return false;
  // This makes the system call itself: it is a part of the program's call, which hooks have seen.
  if (copy_pages(range, static_cast<std::byte*>(place)) &&
      syscall(SYS_mremap, place, range.bytes(), range.bytes(), MREMAP_MAYMOVE | MREMAP_FIXED,
              pointer(range.begin)) == static_cast<long>(range.begin)) {
    return true;
  }
  munmap(place, range.bytes());
  return false;
}

// Memory that was promoted is private since the fork, in mappings of its own.
bool before_remap_in_child(const Range& pages) {
  ProcessMaps maps;
  if (!maps.open(service().kernel.queries)) return true;
  const bool joined = join(maps, pages);
  maps.close();
  return joined;
}

}  // namespace

bool before_remap(void* address, std::size_t bytes) {
  Service& own = service();
  const Range pages = whole_units(range_of(address, round_up(bytes, kPage)), kPage);
  if (pages.empty() || !own.may_hold(pages)) return true;
  if (own.closed.load() == Refusal::forked) return before_remap_in_child(pages);
  bool all = true, any = false;
  for_promoted(own, pages, [&](const Range& part, const Mapping& mapping) {
    any = true;
    if (!make_private(own.file, mapping, part)) {
      all = false;
      return;
    }
    const std::uintptr_t offset = mapping.offset_of(part.begin);
    own.tally.demoted_bytes += own.file.punch({offset, offset + part.bytes()});
  });
  return all && (!any || join(own.maps, pages));
}

}  // namespace sumac::promotion
