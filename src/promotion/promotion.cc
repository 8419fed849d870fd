// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/promotion.h"

#include "base/cpu.h"
#include "promotion/page_mover.h"
#include "promotion/service.h"
#include "promotion/surroundings.h"

namespace sumac::promotion {
namespace {

// A device may be opened at any time; looking for one costs some microseconds for each descriptor.
constexpr std::uint64_t kLookForDevicesEvery = 64, kSweepEvery = 16;
constexpr int kAllSteps = 1 << 20;
constexpr int kSteps = 64, kStepsByText = 4;  // steps of a sweep now and then

// Returns why there can be no file.
Refusal open_file(Service& service) {
  if (service.settings.heed_tools && memory_tool_present()) return Refusal::tools;
  service.kernel = kernel_here().without(service.settings.without);
  if (!service.kernel.scans) service.properties.serve_times(Properties::kServesTimesForHuge);
  if (!service.maps.open(service.kernel.queries)) return Refusal::kernel;
  Refusal refusal = service.file.open();
  if (refusal == Refusal::none && !service.kernel.queries && !service.known.open()) {
    refusal = Refusal::kernel;
  }
  if (refusal == Refusal::none && !register_fork_handlers()) refusal = Refusal::kernel;
  if (refusal != Refusal::none) {
    service.file.close();
    service.maps.close();
    service.known.close();
  }
  return refusal;
}

// Returns why nothing may be promoted although there is a file.
Refusal forbidden(const Settings& settings) {
  if (!settings.promotes) return Refusal::not_open;
  if (!settings.calls_caught) return Refusal::releases;
  if (settings.heed_devices && device_open()) return Refusal::devices;
  return Refusal::none;
}

// Finds the mapping in place that holds the address, if it can be read and written.
bool find_in_place(const Service& service, std::uintptr_t address, Mapping& mapping) {
  return service.maps.find(address, Search::covering, mapping) && service.file.in_place(mapping) &&
         mapping.readable && mapping.writable;
}

// Does the same without PROCMAP_QUERY. It does not see protection that the program has taken from a
// whole mapping since it was noted; peers' windows are not affected.
bool find_known(Service& service, std::uintptr_t address, Range& range) {
  if (service.known.find(service.file, address, range)) return true;
  Mapping mapping;
  if (!find_in_place(service, address, mapping)) return false;
  service.known.note(mapping);
  range = mapping;
  return true;
}

Refusal make_room(Service& service, std::size_t bytes) {
  const auto room = [&] {
    const std::size_t all = service.file.used(), budget = service.settings.budget;
    const std::size_t used = all - std::min(all, service.born_bytes);
    return service.ranges < service.settings.most_ranges && used <= budget &&
           bytes <= budget - used;
  };
  if (room()) return Refusal::none;
  service.ranges = service.count_mappings();
  service.sweep_at = 0;
  sweep(kAllSteps);
  return room() ? Refusal::none : Refusal::budget;
}

// Looks whether something has happened since that forbids promotion.
Refusal look_again(Service& service) {
  if (!service.file.is_own()) return Refusal::file_lost;
  if (service.settings.heed_devices &&
      service.tally.promotions % kLookForDevicesEvery == kLookForDevicesEvery - 1 &&
      device_open()) {
    return Refusal::devices;
  }
  return Refusal::none;
}

Refusal move(Service& service, const Admission& admission, std::size_t& moved) {
  for (int i = 0; i < admission.count; ++i) {
    for (Range rest = admission.pieces[i]; !rest.empty();) {
      const Range chunk = first_chunk(rest);
      service.widen(chunk);
      std::size_t huge = 0;
      if (!move_chunk(service, chunk, huge)) return Refusal::memory;
      service.tally.huge_bytes += huge;
      moved += chunk.bytes();
      rest.begin = chunk.end;
    }
    ++service.ranges;
  }
  return Refusal::none;
}

Refusal promote_held(Service& service, const Range& range, std::size_t& moved) {
  if (const Refusal now_off = look_again(service); now_off != Refusal::none) {
    service.off.store(now_off);
    return now_off;
  }
  const Admission admission = admit(service, range);
  if (admission.refusal != Refusal::none || admission.count == 0) return admission.refusal;
  std::size_t bytes = 0;
  for (int i = 0; i < admission.count; ++i) bytes += admission.pieces[i].bytes();
  if (const Refusal refusal = make_room(service, bytes); refusal != Refusal::none) return refusal;
  if (service.tally.promotions % kSweepEvery == kSweepEvery - 1) {
    sweep(service.maps.by_query() ? kSteps : kStepsByText);
  }
  service.promotes.store(true, std::memory_order_release);
  const Refusal refusal = move(service, admission, moved);
  service.tally.promotions += moved > 0;
  service.tally.promoted_bytes += moved;
  return refusal;
}

}  // namespace

// The service is made when the library is loaded, since an allocator may call advise(), and nothing
// can be allocated within one.
static Service& the_service = *new Service;

Service& service() { return the_service; }

void Service::widen(const Range& range) {
  if (range.begin < low.load()) low.store(range.begin);
  if (range.end > high.load()) high.store(range.end, std::memory_order_release);
}

Refusal open(const Settings& settings) {
  Service& own = service();
  const Hold hold(Hold::Way::wait);
  static bool opened = false;
  if (!opened) {
    opened = true;
    own.settings = settings;
    own.closed.store(open_file(own));
    own.off.store(own.closed.load());
    if (own.closed.load() == Refusal::none) own.off.store(forbidden(settings));
  }
  return own.off.load();
}

Refusal status() { return service().off.load(); }

Refusal closed() { return service().closed.load(); }

FileIdentity file() {
  const MemoryFile& own = service().file;
  return {own.fd(), own.device(), own.inode()};
}

Outcome promote(const void* address, std::size_t bytes) {
  Service& own = service();
  Outcome outcome;
  const std::uint64_t start_ns = clock_ns();
  outcome.refusal = own.off.load();
  if (outcome.refusal == Refusal::none) {
    if (const Hold hold(Hold::Way::attempt); hold) {
      outcome.refusal = promote_held(own, interior(address, bytes), outcome.bytes);
    } else {
      outcome.refusal = Refusal::busy;
    }
  }
  outcome.ns = clock_ns() - start_ns;
  if (!outcome.done()) ++own.tally.refusals[static_cast<int>(outcome.refusal)];
  return outcome;
}

bool mapped(const void* address, std::size_t bytes) {
  constexpr int kMostMappings = 16;
  Service& own = service();
  Range rest = interior(address, bytes);
  if (rest.empty() || !own.near(rest) || own.closed.load() == Refusal::forked) return false;
  for (int i = 0; i < kMostMappings; ++i) {
    Mapping mapping;
    const bool found = own.kernel.queries ? find_in_place(own, rest.begin, mapping)
                                          : find_known(own, rest.begin, mapping);
    if (!found) return false;
    rest.begin = mapping.end;
    if (rest.empty()) return true;
  }
  return false;
}

bool shared_mapping(const void* address, Mapping& mapping) {
  const Service& own = service();
  if (own.closed.load() != Refusal::none) return false;
  return own.maps.find(reinterpret_cast<std::uintptr_t>(address), Search::covering, mapping) &&
         mapping.shared && mapping.readable && mapping.writable && mapping.inode != 0 &&
         !own.file.has(mapping);
}

Counts counts() {
  const Service& own = service();
  const Tally& tally = own.tally;
  Counts counts;
  counts.promotions = tally.promotions;
  counts.promoted_bytes = tally.promoted_bytes;
  counts.huge_bytes = tally.huge_bytes;
  counts.swept_bytes = tally.swept_bytes;
  counts.released_bytes = tally.released_bytes;
  counts.demoted_bytes = tally.demoted_bytes;
  for (int i = 0; i < kRefusals; ++i) counts.refusals[i] = tally.refusals[i];
  counts.used_bytes = own.file.used();
  return counts;
}

}  // namespace sumac::promotion
