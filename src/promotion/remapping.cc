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
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "promotion/service.h"

namespace sumac::promotion {
namespace {

constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;
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
      if (!service.maps.find(at, Search::covering, mapping)) {
        ordinary = false;
        return;
      }
      const bool shows = service.file.shows(mapping);
      own |= shows;
      ordinary &= shows || is_ordinary(mapping);
      protection = mapping.protection();
    }
  }
  // The kernel would do with such a range what it does with private memory.
  bool is_the_kernels() const { return !ordinary || (!own && mappings < 2); }
};

bool move_pages(const Range& range, std::uintptr_t to) {
  return syscall(SYS_mremap, range.begin, range.bytes(), range.bytes(),
                 MREMAP_MAYMOVE | MREMAP_FIXED, to) == static_cast<long>(to);
}

// Moves the mappings of the range, or none of them.
bool move_all(const Service& service, const Range& range, std::uintptr_t to) {
  Mapping mapping;
  for (Range rest = range; !rest.empty(); rest.begin = mapping.end) {
    const bool found = service.maps.find(rest.begin, Search::covering, mapping);
    if (found && move_pages(rest.within(mapping), to + (rest.begin - range.begin))) continue;
    for (Range back{to, to + (rest.begin - range.begin)}; !back.empty(); back.begin = mapping.end) {
      if (!service.maps.find(back.begin, Search::covering, mapping)) break;
      move_pages(back.within(mapping), range.begin + (back.begin - to));
    }
    return false;
  }
  return true;
}

void* grow_in_place(const Range& old, std::size_t bytes, int protection) {
  void* const behind = pointer(old.end);
  void* const got =
      mmap(behind, bytes - old.bytes(), protection, kPrivate | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == behind) return pointer(old.begin);
  if (got != MAP_FAILED) munmap(got, bytes - old.bytes());
  return fail(ENOMEM);
}

struct Wish {
  std::size_t bytes;
  int flags;
  void* to;
};

void* move(Service& service, const Range& old, const Wish& wish, const Content& content) {
  const bool fixed = wish.flags & MREMAP_FIXED;
  const Range target = range_of(wish.to, wish.bytes);
  if (fixed && (target.begin % kPage != 0 || !target.within(old).empty())) return fail(EINVAL);
  void* const place = mmap(fixed ? wish.to : nullptr, wish.bytes, PROT_NONE,
                           kPrivate | MAP_NORESERVE | (fixed ? MAP_FIXED : 0), -1, 0);
  if (place == MAP_FAILED) return fail(ENOMEM);
  const Range kept{old.begin, old.begin + std::min(old.bytes(), wish.bytes)};
  const Range added{range_of(place, kept.bytes()).end, range_of(place, wish.bytes).end};
  service.widen(range_of(place, wish.bytes));
  service.promotes.store(true);
  service.holes.store(true);
  service.known.forget(range_of(place, wish.bytes));
  const bool has_room =
      added.empty() || mmap(pointer(added.begin), added.bytes(), content.protection,
                            kPrivate | MAP_FIXED, -1, 0) != MAP_FAILED;
  if (!has_room || !move_all(service, kept, range_of(place, 0).begin)) {
    munmap(place, wish.bytes);
    return fail(ENOMEM);
  }
  if (kept.end < old.end) munmap(pointer(kept.end), old.end - kept.end);
  if (wish.flags & kDontUnmap) {
    mmap(pointer(old.begin), old.bytes(), content.protection, kPrivate | MAP_FIXED_NOREPLACE, -1,
         0);
  }
  return place;
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
    if (wish.bytes < old.bytes()) munmap(pointer(old.begin + wish.bytes), old.bytes() - wish.bytes);
    if (wish.bytes <= old.bytes()) return address;
    void* const grown = grow_in_place(old, wish.bytes, content.protection);
    if (grown != MAP_FAILED || !(flags & MREMAP_MAYMOVE)) return grown;
  }
  return move(own, old, wish, content);
}

}  // namespace sumac::promotion
