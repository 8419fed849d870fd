// SPDX-License-Identifier: BSD-3-Clause
// The parts of the service share these declarations, which are private to src/promotion.
#pragma once

#include <atomic>
#include <mutex>
#include <span>

#include "promotion/address_space.h"
#include "promotion/born_shared.h"
#include "promotion/promotion.h"

namespace sumac::promotion {

// Any thread raises these counters.
struct Tally {
  std::atomic<std::uint64_t> promotions, promoted_bytes, huge_bytes;
  std::atomic<std::uint64_t> swept_bytes, released_bytes;
  std::atomic<std::uint64_t> refusals[kRefusals];
};

// This is the memory that is born shared. The thread that holds the service's lock changes it.
struct Born {
  ChangingRange ranges[kMostBorn];
  std::atomic<std::size_t> most{0};  // entries from here on have never been used
  std::size_t bytes = 0;             // no budget counts these
  std::atomic<std::uint64_t> times{0}, bytes_in_all{0};
};

// A fork copies parts of the file, in ascending order, to other addresses.
struct FileCopy {
  Range part;
  std::uintptr_t at;

  Range memory() const { return {at, at + part.bytes()}; }
};
// This is the fork under way. The thread that holds the service's lock uses it.
struct Forking {
  enum class Way : std::uint8_t { none, leaving, copying };
  Way way = Way::none;
  std::size_t count = 0;
  FileCopy copies[std::size_t{2} * kMostBorn];
  std::span<FileCopy> made() { return {copies, count}; }
  // Other threads note here which parts they give back since the copies are made. The child sees
  // what was noted before the fork.
  static constexpr std::size_t kMostReleased = 1024;
  ChangingRange released[kMostReleased];
  std::atomic<std::size_t> releases{0};

  void note_release(const Range& part) {
    const std::size_t place = releases.fetch_add(1, std::memory_order_relaxed);
    if (place < kMostReleased) released[place].set(part);
  }
};

struct Service {
  Service(AddressSpace& space, Born& its_born, Forking& its_forking)
      : kernel(&space), born(&its_born), forking(&its_forking) {}

  Settings settings;
  AddressSpace* kernel;
  bool opened = false;
  std::atomic<Refusal> closed{Refusal::not_open};  // why there is no file
  std::atomic<Refusal> off{Refusal::not_open};     // why nothing is promoted
  // All promoted addresses lie in [low, high). The range only grows; if it is empty, nothing was
  // promoted.
  std::atomic<std::uintptr_t> low{~std::uintptr_t{0}}, high{0};
  // True once something is promoted, or born memory has moved.
  std::atomic<bool> promotes{false};
  // True once a place in the file without data may be in use: the program has given back pages that
  // are mapped, or has moved memory, of which not all pages exist.
  std::atomic<bool> holes{false};
  // The thread that promotes, sweeps or forks holds the lock. It is recursive, since a signal
  // handler may fork.
  std::recursive_mutex lock;
  // Counts operations in which peers may reach into memory of this process.
  std::atomic<int> in_use{0};
  std::uintptr_t sweep_at = 0;
  Born* born;
  Forking* forking;
  std::size_t ranges = 0;  // mappings of the file; counted anew when there seem to be too many
  std::atomic<std::uint64_t> look_at_ns{0}, sweep_at_ns{0};  // when tend() does so next
  Tally tally = {};

  bool near(const Range& range) const {
    return !range.within({low.load(std::memory_order_acquire), high.load()}).empty();
  }
  // Returns false if no part of the range is in the file. The kernel is not asked, so it may be
  // true of others.
  bool may_hold(const Range& range) const {
    return near(range) && (promotes.load(std::memory_order_acquire) || overlaps_born_shared(range));
  }
  // Says that addresses in the range are promoted. Any thread may call it.
  void widen(const Range& range);
  // Returns true if a part of the range of the file, none of which is mapped at its own addresses,
  // is mapped at others.
  bool moved_away(const Range& range) const;
  std::size_t count_mappings() const;  // counts mappings of the file
};
Service& service();
// Gives the process another service. Only tests do, each of whose simulated processes has one.
void set_service(Service& other);

// Looks whether something is open in the process that forbids promotion, and heeds that from now
// on. Makes system calls only.
void look_at_descriptors(Service& service);

// Calls act(part, mapping) for the parts of the range that show the file. Returns false with errno
// set if the kernel cannot be asked.
template <typename Act>
bool for_own(const Service& service, const Range& range, Act&& act) {
  return service.kernel->for_files(range.begin, [&](const Mapping& mapping) {
    const Range part = range.within(mapping);
    if (!part.empty() && service.kernel->shows(mapping)) act(part, mapping);
    return mapping.end < range.end;
  });
}

// These are the handlers of fork (fork_copies.cc).
void before_fork();
void after_fork_in_parent();
void after_fork_in_child();

}  // namespace sumac::promotion
