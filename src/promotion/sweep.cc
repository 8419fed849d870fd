// SPDX-License-Identifier: BSD-3-Clause
// Memory that the program gave back, by madvise() or by unmapping it, is given back to the system.
//
// A sweep finds pages of the file that no mapping of this process shows any more: the program has
// unmapped the memory, or mapped something else there. Nobody tells Sumac, because free() inside
// the C library calls munmap by an inner name. The pages are found by comparing the file with the
// mappings.
//
// It costs a system call or two of under 1 us per mapping (without PROCMAP_QUERY, a reading of all
// mappings), and, only if there is something to give back, one per mapping of any file in the
// process, twice.
#include <sys/mman.h>

#include <cerrno>

#include "base/hash.h"
#include "promotion/page_state.h"
#include "promotion/service.h"

namespace sumac::promotion {
namespace {

// This bounds the steps of a sweep in which each step reads all of /proc/self/maps.
constexpr int kMostStepsByText = 256;

// Holds a hash of the mappings of the file in this process, and the first part of `range` that one
// of them shows.
struct ShownMappings {
  Range part;
  std::uint64_t hash = SUMAC_HASH_START;
  std::size_t count = 0;

  ShownMappings(const Service& service, const Range& range) : part{range.end, range.end} {
    service.kernel->for_files(0, [&](const Mapping& mapping) {
      if (!service.kernel->has(mapping)) return true;
      ++count;
      const Range shown = range.within({mapping.offset, mapping.offset + mapping.bytes()});
      if (!shown.empty() && shown.begin < part.begin) part = shown;
      for (const std::uint64_t word : {mapping.begin, mapping.end, mapping.offset}) {
        hash = hash_value(word, hash);
      }
      return true;
    });
  }
};

// Returns by how many bytes act() makes the file smaller. This is not exact while another thread
// promotes.
template <typename Act>
std::size_t freed(const Service& service, Act&& act) {
  const std::size_t before = service.kernel->used();
  act();
  const std::size_t after = service.kernel->used();
  return before > after ? before - after : 0;
}

// Punches pages of the file, none of which is mapped at its own address, up to those that the
// program has moved, and sets range.begin behind these. While another thread moves such pages once
// more, from above the search to below it, the search can miss them; a second search would have to
// miss them too, and find everything else unchanged.
std::size_t give_back(Service& service, Range& range) {
  const ShownMappings first(service, range), second(service, range);
  const Range free{range.begin, std::min(first.part.begin, second.part.begin)};
  range.begin = std::max(first.part.end, second.part.end);
  if (first.hash != second.hash || free.empty()) return 0;
  return freed(service, [&] { service.kernel->punch(free); });
}

}  // namespace

bool Service::moved_away(const Range& range) const {
  return (holes.load() || kernel->has_data(range)) && !ShownMappings(*this, range).part.empty();
}

std::size_t Service::count_mappings() const { return ShownMappings(*this, {}).count; }

std::size_t sweep(int steps) {
  Service& own = service();
  AddressSpace& kernel = *own.kernel;
  if (!kernel.features().queries) steps = std::min(steps, kMostStepsByText);
  const std::unique_lock hold(own.lock, std::try_to_lock);
  if (!hold || own.closed.load() == Refusal::forked || !kernel.file_is_own()) return 0;
  std::size_t bytes = 0;
  bool from_start = own.sweep_at == 0;
  for (; steps > 0; --steps) {
    Range free;
    if (!kernel.next_data(own.sweep_at, free.begin)) {
      own.sweep_at = 0;
      if (from_start) break;
      from_start = true;
      continue;
    }
    Mapping mapping;
    const bool found = kernel.find(free.begin, Search::next, mapping);
    const bool covered = found && mapping.contains(free.begin);
    free.end = !found ? own.high.load() : covered ? mapping.end : mapping.begin;
    if (covered && kernel.in_place(mapping)) {
      own.sweep_at = mapping.end;
    } else {
      bytes += give_back(own, free);
      own.sweep_at = free.begin;
    }
  }
  own.tally.swept_bytes += bytes;
  return bytes;
}

namespace {

// The program calls madvise() on memory of the file. Allocators rely on memory that they gave back
// by MADV_DONTNEED reading as zeros (jemalloc does); a mapping of the file would show its data
// again. So holes are punched into it where it is shared, and new pages take its place where it is
// private since a fork.
//
// Sumac does not see calls from inside the C library: malloc_trim() and the arenas of threads give
// memory back by MADV_DONTNEED there, and take it for dirty afterwards; the threads' stacks that it
// keeps are never promoted. realloc() of a large block is an mremap of a mapping whose first page,
// with the block's header, is never promoted: it spans two mappings, the kernel refuses to resize
// it, and realloc() copies. docs/memory.md says what else is not seen.
bool release(Service& service, const Range& part, const Mapping& mapping) {
  if (!mapping.shared) return service.kernel->map(part, {mapping.protection()});
  // A userfaultfd would have the next access to these pages answered by the program; peers' would
  // not come there.
  look_at_descriptors(service);
  service.holes.store(true);
  const std::uintptr_t offset = mapping.offset_of(part.begin);
  const Range offsets{offset, offset + part.bytes()};
  service.forking->note_release(offsets);
  bool punched = false;
  service.tally.released_bytes +=
      freed(service, [&] { punched = service.kernel->punch(offsets, part.begin); });
  return punched;
}

// Gives advice on the parts that are not the file's as the program does, and releases the others.
int release_all(Service& service, const Range& range, int advice, Madvise next) {
  int result = 0, error = 0;
  const auto note = [&](bool done) {
    if (done) return;
    result = -1;
    error = errno;
  };
  const auto give = [&](const Range& part, int as) {
    return part.empty() || next(pointer(part.begin), part.bytes(), as) == 0;
  };
  std::uintptr_t done = range.begin;
  note(for_own(service, range, [&](const Range& part, const Mapping& mapping) {
    note(give({done, part.begin}, advice));
    // The kernel knows whether it may, and forgets the pages here. MADV_FREE is an error on them.
    note(give(part, advice == MADV_FREE ? MADV_DONTNEED : advice) &&
         release(service, part, mapping));
    done = part.end;
  }));
  note(give({done, range.end}, advice));
  if (result != 0) errno = error;
  return result;
}

bool releases(int advice) {
  return advice == MADV_DONTNEED || advice == MADV_FREE || advice == kDontneedLocked;
}

}  // namespace

int advise(void* address, std::size_t bytes, int advice, Madvise next) {
  Service& own = service();
  const Range range = range_of(address, bytes);
  const Range pages{range.begin, round_up(range.end, kPage)};
  if (range.begin % kPage != 0 || pages.empty() || !own.may_hold(pages)) {
    return next(address, bytes, advice);
  }
  if (releases(advice)) return release_all(own, pages, advice, next);
  bool any = false;
  if (advice == MADV_REMOVE) for_own(own, pages, [&](const Range&, const Mapping&) { any = true; });
  if (!any) return next(address, bytes, advice);
  errno = EINVAL;  // as on private memory
  return -1;
}

}  // namespace sumac::promotion
