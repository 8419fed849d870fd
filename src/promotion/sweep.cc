// SPDX-License-Identifier: BSD-3-Clause
// A sweep finds pages of the file that no mapping of this process shows any more: the program has
// unmapped the memory, or mapped something else there. Nobody tells Sumac, because free() inside
// the C library calls munmap by an inner name. The pages are found by comparing the file with the
// mappings.
//
// It costs a system call or two of under 1 us per mapping (without PROCMAP_QUERY, a reading of all
// mappings), and, only if there is something to give back, one per mapping of any file in the
// process, twice.
#include "base/hash.h"
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
    service.maps.for_files(0, [&](const Mapping& mapping) {
      if (!service.file.has(mapping)) return true;
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

// Punches pages of the file, none of which is mapped at its own address, up to those that the
// program has moved, and sets range.begin behind these. While another thread moves such pages once
// more, from above the search to below it, the search can miss them; a second search would have to
// miss them too, and find everything else unchanged.
std::size_t give_back(const Service& service, Range& range) {
  const ShownMappings first(service, range), second(service, range);
  const Range free{range.begin, std::min(first.part.begin, second.part.begin)};
  range.begin = std::max(first.part.end, second.part.end);
  return first.hash == second.hash ? service.file.punch(free) : 0;
}

}  // namespace

bool Service::moved_away(const Range& range) const {
  return !ShownMappings(*this, range).part.empty();
}

std::size_t Service::count_mappings() const { return ShownMappings(*this, {}).count; }

std::size_t sweep(int steps) {
  Service& own = service();
  if (!own.maps.by_query()) steps = std::min(steps, kMostStepsByText);
  const Hold hold(Hold::Way::attempt);
  if (!hold || own.off.load() == Refusal::forked || !own.file.is_own()) return 0;
  std::size_t bytes = 0;
  bool from_start = own.sweep_at == 0;
  for (; steps > 0; --steps) {
    Range free;
    if (!own.file.next_data(own.sweep_at, free.begin)) {
      own.sweep_at = 0;
      if (from_start) break;
      from_start = true;
      continue;
    }
    Mapping mapping;
    const bool found = own.maps.find(free.begin, Search::next, mapping);
    const bool covered = found && mapping.contains(free.begin);
    free.end = !found ? own.high.load() : covered ? mapping.end : mapping.begin;
    if (covered && own.file.in_place(mapping)) {
      own.sweep_at = mapping.end;
    } else {
      bytes += give_back(own, free);
      own.sweep_at = free.begin;
    }
  }
  own.tally.swept_bytes += bytes;
  return bytes;
}

}  // namespace sumac::promotion
