// SPDX-License-Identifier: BSD-3-Clause
// The program calls mremap() on memory that is the file's, or was before a fork.
//
// Idea   Where private memory is one mapping, such memory is several, and the kernel resizes one
//        only; and a mapping of the file that grew would show the pages that follow in the file,
//        which are another buffer's. So the mappings are moved one by one, and what is added is a
//        private mapping behind them. No page is copied or replaced: threads that work in memory
//        which grows in place lose nothing, and devices keep what they have pinned
// Cost   A system call for each mapping. Memory that has moved stays in the file, but no peer
//        reaches into it any more, because its offset is no longer its address
#include <sys/mman.h>

#include <cerrno>

#include "promotion/service.h"

namespace sumac::promotion {
namespace {

// Older systems' headers lack it.
constexpr int kDontUnmap = 4;

void* fail(int error) {
  errno = error;
  return MAP_FAILED;
}

bool is_ordinary(const Mapping& mapping) {
  return mapping.inode == 0 && !mapping.shared && mapping.readable && mapping.writable &&
         !mapping.executable;
}

// This tells what lies in the range to be moved.
struct Content {
  bool own = false;      // some of it shows the file
  bool ordinary = true;  // all else is ordinary memory
  int mappings = 0;
  int protection = PROT_READ | PROT_WRITE;  // the last mapping has it

  Content(const Service& service, const Range& range) {
    Mapping mapping;
    for (std::uintptr_t at = range.begin; at < range.end; at = mapping.end, ++mappings) {
      if (!service.kernel->find(at, Search::covering, mapping)) {
        ordinary = false;
        return;
      }
      const bool shows = service.kernel->shows(mapping);
      own |= shows;
      ordinary &= shows || is_ordinary(mapping);
      protection = mapping.protection();
    }
  }
  // The kernel would do with such a range what it does with private memory.
  bool is_the_kernels() const { return !ordinary || (!own && mappings < 2); }
};

// Moves the mappings of the range, or none of them.
bool move_all(AddressSpace& kernel, const Range& range, std::uintptr_t to) {
  Mapping mapping;
  for (Range rest = range; !rest.empty(); rest.begin = mapping.end) {
    const bool found = kernel.find(rest.begin, Search::covering, mapping);
    if (found && kernel.move(rest.within(mapping), to + (rest.begin - range.begin))) continue;
    for (Range back{to, to + (rest.begin - range.begin)}; !back.empty(); back.begin = mapping.end) {
      if (!kernel.find(back.begin, Search::covering, mapping)) break;
      kernel.move(back.within(mapping), range.begin + (back.begin - to));
    }
    return false;
  }
  return true;
}

struct Wish {
  std::size_t bytes;
  int flags;
  void* to;
};

void* move(Service& service, const Range& old, const Wish& wish, const Content& content) {
  AddressSpace& kernel = *service.kernel;
  Range place = range_of(wish.to, wish.bytes);
  if (wish.flags & MREMAP_FIXED) {
    if (place.begin % kPage != 0 || !place.within(old).empty()) return fail(EINVAL);
    if (!kernel.map(place, {PROT_NONE})) return fail(ENOMEM);
  } else {
    place.begin = kernel.map_anywhere(wish.bytes, PROT_NONE);
    place.end = place.begin + wish.bytes;
    if (place.begin == 0) return fail(ENOMEM);
  }
  const Range kept{old.begin, old.begin + std::min(old.bytes(), wish.bytes)};
  const Range added{place.begin + kept.bytes(), place.end};
  service.widen(place);
  service.promotes.store(true);
  service.holes.store(true);
  if (!(added.empty() || kernel.map(added, {content.protection})) ||
      !move_all(kernel, kept, place.begin)) {
    kernel.unmap(place);
    return fail(ENOMEM);
  }
  if (kept.end < old.end) kernel.unmap({kept.end, old.end});
  if (wish.flags & kDontUnmap) kernel.map(old, {content.protection}, false);
  return pointer(place.begin);
}

}  // namespace

void* remap(void* address, std::size_t old_bytes, std::size_t bytes, int flags, void* to,
            Mremap next) {
  Service& own = service();
  const Range old = range_of(address, round_up(old_bytes, kPage));
  // Private memory has no twins, which the kernel makes of a mapping where old_bytes is 0.
  const Range looked_at{old.begin, std::max(old.end, old.begin + 1)};
  if (old.begin % kPage != 0 || bytes == 0 || bytes > SIZE_MAX / 4 || !own.may_hold(looked_at)) {
    return next(address, old_bytes, bytes, flags, to);
  }
  const Content content(own, looked_at);
  if (content.is_the_kernels()) return next(address, old_bytes, bytes, flags, to);
  const Wish wish{round_up(bytes, kPage), flags, to};
  const bool moves = flags & (MREMAP_FIXED | kDontUnmap);
  if (old.empty() || (flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED | kDontUnmap)) ||
      (moves && !(flags & MREMAP_MAYMOVE)) || ((flags & kDontUnmap) && wish.bytes != old.bytes())) {
    return fail(EINVAL);
  }
  if (!moves) {
    const std::uintptr_t end = old.begin + wish.bytes;
    if (end < old.end) own.kernel->unmap({end, old.end});
    if (end <= old.end) return address;
    if (own.kernel->map({old.end, end}, {content.protection}, false)) return address;
    if (!(flags & MREMAP_MAYMOVE)) return fail(ENOMEM);
  }
  return move(own, old, wish, content);
}

}  // namespace sumac::promotion
