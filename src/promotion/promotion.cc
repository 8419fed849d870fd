// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/promotion.h"

#include <pthread.h>

#include <algorithm>
#include <cstdio>

#include "base/cpu.h"
#include "promotion/page_mover.h"
#include "promotion/service.h"
#include "promotion/surroundings.h"

namespace sumac::promotion {
namespace {

// tend() rests for so many times as long as it took, but not for less than a millisecond.
constexpr std::uint64_t kRestTimes = 100, kLeastRestNs = 1'000'000;
constexpr int kSteps = 64, kStepsByText = 4;  // steps of a sweep now and then

// Returns why there can be no file.
Refusal open_file(Service& service) {
  if (service.settings.heed_tools && memory_tool_present()) return Refusal::tools;
  static const int handled = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  return handled == 0 ? service.kernel->open(service.settings.without) : Refusal::kernel;
}

// Every promoted range may divide one mapping of the program into three.
std::size_t most_ranges() {
  unsigned long most_mappings = 65530;
  if (std::FILE* const file = std::fopen("/proc/sys/vm/max_map_count", "re")) {
    if (std::fscanf(file, "%lu", &most_mappings) != 1) most_mappings = 0;
    std::fclose(file);
  }
  return most_mappings / 20;
}

Refusal make_room(Service& service, std::size_t bytes) {
  const auto room = [&] {
    const std::size_t all = service.kernel->used(), budget = service.settings.budget;
    const std::size_t used = all - std::min(all, service.born->bytes);
    return service.ranges < service.settings.most_ranges && used <= budget &&
           bytes <= budget - used;
  };
  if (room()) return Refusal::none;
  service.ranges = service.count_mappings();
  service.sweep_at = 0;
  sweep(kAllSteps);
  return room() ? Refusal::none : Refusal::budget;
}

// A step ends at a multiple of 16 MiB, so that no huge page is divided.
Refusal move(Service& service, const Admission& admission, std::size_t& moved) {
  constexpr std::size_t kStep = std::size_t{16} << 20;
  for (int i = 0; i < admission.count; ++i) {
    for (Range rest = admission.pieces[i]; !rest.empty();) {
      const Range chunk = rest.within({rest.begin, (rest.begin / kStep + 1) * kStep});
      service.widen(chunk);
      std::size_t huge = 0;
      if (!move_chunk(service, chunk, admission.pieces[i].huge, huge)) return Refusal::memory;
      service.tally.huge_bytes += huge;
      moved += chunk.bytes();
      rest.begin = chunk.end;
    }
    ++service.ranges;
  }
  return Refusal::none;
}

Refusal promote_held(Service& service, const Range& range, std::size_t& moved) {
  if (!service.kernel->file_is_own()) service.off.store(Refusal::file_lost);
  look_at_descriptors(service);
  if (const Refusal off = service.off.load(); off != Refusal::none) return off;
  const Admission admission = admit(service, range);
  if (admission.refusal != Refusal::none || admission.count == 0) return admission.refusal;
  std::size_t bytes = 0;
  for (int i = 0; i < admission.count; ++i) bytes += admission.pieces[i].bytes();
  if (const Refusal refusal = make_room(service, bytes); refusal != Refusal::none) return refusal;
  service.promotes.store(true, std::memory_order_release);
  const Refusal refusal = move(service, admission, moved);
  service.tally.promotions += moved > 0;
  service.tally.promoted_bytes += moved;
  return refusal;
}

}  // namespace

// The service is made when the library is loaded, since an allocator may call advise(), and nothing
// can be allocated within one.
static Born the_born;
static Forking the_forking;
static Service* the_service = new Service(linux_space(), the_born, the_forking);

Service& service() { return *the_service; }
void set_service(Service& other) { the_service = &other; }

void Service::widen(const Range& range) {
  std::uintptr_t now = low.load();
  while (range.begin < now && !low.compare_exchange_weak(now, range.begin)) {
  }
  now = high.load();
  while (range.end > now && !high.compare_exchange_weak(now, range.end)) {
  }
}

void look_at_descriptors(Service& service) {
  const OpenDescriptors found = service.kernel->open_descriptors();
  if (found.faults) {
    service.closed.store(Refusal::faults);
    service.off.store(Refusal::faults);
  } else if (found.devices && service.settings.heed_devices) {
    Refusal none = Refusal::none;
    service.off.compare_exchange_strong(none, Refusal::devices);
  }
}

Refusal open(const Settings& settings) {
  Service& own = service();
  const std::unique_lock hold(own.lock);
  if (!own.opened) {
    own.opened = true;
    own.settings = settings;
    own.settings.most_ranges = std::min(settings.most_ranges, most_ranges());
    own.closed.store(open_file(own));
    own.off.store(own.closed.load());
    if (own.closed.load() == Refusal::none) {
      own.off.store(!settings.promotes       ? Refusal::not_open
                    : !settings.calls_caught ? Refusal::releases
                                             : Refusal::none);
      look_at_descriptors(own);
    }
  }
  return own.off.load();
}

Refusal status() { return service().off.load(); }

Refusal closed() { return service().closed.load(); }

FileIdentity file() { return service().kernel->file(); }

Outcome promote(const void* address, std::size_t bytes) {
  Service& own = service();
  Outcome outcome;
  const std::uint64_t start_ns = clock_ns();
  outcome.refusal = own.off.load();
  if (outcome.refusal == Refusal::none) {
    if (const std::unique_lock hold(own.lock, std::try_to_lock); hold) {
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
  if (rest.empty() || !own.near(rest) || own.closed.load() != Refusal::none) return false;
  for (int i = 0; i < kMostMappings; ++i) {
    Mapping mapping;
    if (!own.kernel->find_in_place(rest.begin, mapping)) return false;
    rest.begin = mapping.end;
    if (rest.empty()) return true;
  }
  return false;
}

void begin_use() { service().in_use.fetch_add(1); }
void end_use() { service().in_use.fetch_sub(1); }

void tend() {
  Service& own = service();
  if (own.high.load(std::memory_order_relaxed) == 0) return;
  const auto if_due = [](std::atomic<std::uint64_t>& next_ns, auto&& act) {
    const std::uint64_t start = clock_ns();
    if (start < next_ns.load(std::memory_order_relaxed)) return;
    act();
    const std::uint64_t end = clock_ns();
    next_ns.store(end + std::max(kRestTimes * (end - start), kLeastRestNs),
                  std::memory_order_relaxed);
  };
  const std::unique_lock hold(own.lock, std::try_to_lock);
  if (!hold || own.closed.load() == Refusal::forked) return;
  if_due(own.look_at_ns, [&] { look_at_descriptors(own); });
  if_due(own.sweep_at_ns, [&] { sweep(own.kernel->features().queries ? kSteps : kStepsByText); });
}

void end() {
  Service& own = service();
  const std::unique_lock hold(own.lock);
  if (own.closed.load() == Refusal::not_open || own.in_use.load() > 0) return;
  own.sweep_at = 0;
  sweep(kAllSteps);
  own.kernel->close_file();
  Refusal none = Refusal::none;
  own.closed.compare_exchange_strong(none, Refusal::file_lost);
  own.off.store(own.closed.load());
}

bool shared_mapping(const void* address, Mapping& mapping) {
  const Service& own = service();
  if (own.closed.load() != Refusal::none) return false;
  return own.kernel->find(reinterpret_cast<std::uintptr_t>(address), Search::covering, mapping) &&
         mapping.shared && mapping.readable && mapping.writable && mapping.inode != 0 &&
         !own.kernel->has(mapping);
}

Counts counts() {
  const Service& own = service();
  const Tally& tally = own.tally;
  Counts counts{tally.promotions,  tally.promoted_bytes,  tally.huge_bytes,
                tally.swept_bytes, tally.released_bytes,  own.kernel->used(),
                own.born->times,   own.born->bytes_in_all};
  for (int i = 0; i < kRefusals; ++i) counts.refusals[i] = tally.refusals[i];
  return counts;
}

}  // namespace sumac::promotion
