// SPDX-License-Identifier: BSD-3-Clause
// The parts of the service share these declarations, which are private to src/promotion.
#pragma once

#include <pthread.h>

#include <atomic>

#include "promotion/born_shared.h"
#include "promotion/known_mappings.h"
#include "promotion/memory_file.h"
#include "promotion/process_maps.h"
#include "promotion/promotion.h"
#include "promotion/surroundings.h"

namespace sumac::promotion {

// Any thread raises these counters.
struct Tally {
  std::atomic<std::uint64_t> promotions, promoted_bytes, huge_bytes;
  std::atomic<std::uint64_t> swept_bytes, released_bytes;
  std::atomic<std::uint64_t> refusals[kRefusals];
};

struct Service {
  Settings settings;
  MemoryFile file;
  KernelFeatures kernel;
  ProcessMaps maps;
  KnownMappings known;                             // for kernels without PROCMAP_QUERY
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
  pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  // Counts operations in which peers may reach into memory of this process.
  std::atomic<int> in_use{0};
  std::uintptr_t sweep_at = 0;
  std::size_t born_bytes = 0;  // memory that was born shared, which no budget counts
  std::size_t ranges = 0;      // mappings of the file; counted anew when there seem to be too many
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

// Holds the service's lock.
class Hold {
 public:
  enum class Way { wait, attempt };
  explicit Hold(Way way)
      : held_((way == Way::wait ? pthread_mutex_lock(&service().lock)
                                : pthread_mutex_trylock(&service().lock)) == 0) {}
  ~Hold() {
    if (held_) pthread_mutex_unlock(&service().lock);
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  explicit operator bool() const { return held_; }

 private:
  bool held_;
};

// Looks whether something is open in the process that forbids promotion, and heeds that from now
// on. Makes system calls only.
void look_at_descriptors(Service& service);

// Turns all mappings of the file into private ones of the same pages, with the same protection. No
// other thread notices. Makes system calls only. Returns false if the kernel refuses one.
bool make_private(const Service& service);

// Calls act(part, mapping) for the parts of the range that show the file. Returns false with errno
// set if the kernel cannot be asked.
template <typename Act>
bool for_own(const Service& service, const Range& range, Act&& act) {
  return service.maps.for_files(range.begin, [&](const Mapping& mapping) {
    const Range part = range.within(mapping);
    if (!part.empty() && service.file.shows(mapping)) act(part, mapping);
    return mapping.end < range.end;
  });
}

// Registers the handlers of fork (fork_copies.cc). Returns false if this fails.
bool register_fork_handlers();

}  // namespace sumac::promotion
