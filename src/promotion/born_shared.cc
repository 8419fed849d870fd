// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/born_shared.h"

#include <sys/mman.h>

#include <atomic>

#include "base/hash.h"
#include "promotion/page_state.h"
#include "promotion/service.h"

namespace sumac::promotion {
namespace {

// A range that one thread changes while others read it.
class ChangingRange {
 public:
  Range get() const {
    const std::uintptr_t begin = begin_.load(std::memory_order_relaxed);
    return {begin, end_.load(std::memory_order_relaxed)};
  }
  void set(const Range& range) {
    end_.store(0, std::memory_order_relaxed);
    begin_.store(range.begin, std::memory_order_relaxed);
    end_.store(range.end, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uintptr_t> begin_{0}, end_{0};
};

bool holds(const Range& outer, const Range& inner) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

// The thread that holds the service's lock changes these.
ChangingRange born[kMostBorn];
std::atomic<std::size_t> most_born{0};  // entries from here on have never been used
std::atomic<std::uint64_t> times{0}, bytes_in_all{0};

// These are buffers that were prepared, each in the place that follows from its address. Any thread
// changes them, and what one knows wrongly costs time only.
struct Prepared {
  ChangingRange range;
  std::atomic<std::uint32_t> uses{0};
};
constexpr std::size_t kPreparedBits = 8;
Prepared prepared[std::size_t{1} << kPreparedBits];

Prepared& prepared_at(std::uintptr_t address) {
  return prepared[hash_value(address) >> (64 - kPreparedBits)];
}

// Returns true if shared memory has huge pages, always or when asked.
bool shared_memory_can_be_huge() {
  static const bool can = [] {
    constexpr const char* kPath = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";
    return file_says(kPath, "[") && !file_says(kPath, "[never]") && !file_says(kPath, "[deny]");
  }();
  return can;
}

// Without overcommitment the kernel refuses private memory that it does not have. A page of the
// file that it does not have would end the program.
bool memory_is_promised() {
  static const bool is = !file_says("/proc/sys/vm/overcommit_memory", "2");
  return is;
}

bool costs_nothing(const Service& service, std::size_t bytes) {
  const bool huge = bytes >= kHugePage && private_memory_is_huge();
  return memory_is_promised() && (!huge || shared_memory_can_be_huge() || service.kernel.collapses);
}

bool reserve(std::size_t bytes, std::size_t alignment, Range& range) {
  const std::size_t room = bytes + (alignment > kPage ? alignment : 0);
  void* const found =
      mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return false;
  const Range all = range_of(found, room);
  range.begin = round_up(all.begin, alignment);
  range.end = range.begin + bytes;
  if (range.begin > all.begin) munmap(found, range.begin - all.begin);
  if (range.end < all.end) munmap(pointer(range.end), all.end - range.end);
  return true;
}

// Peers map whole windows, and see only what lies in one of them. So memory does not lie in two
// windows if it fits into one.
bool reserve_in_one_window(std::size_t bytes, std::size_t alignment, Range& range) {
  if (!reserve(bytes, alignment, range)) return false;
  const bool divided = range.begin / kPeerWindow != (range.end - 1) / kPeerWindow;
  if (!divided || bytes > kPeerWindow) return true;
  munmap(pointer(range.begin), bytes);
  return reserve(bytes, kPeerWindow, range);
}

// The program may have unmapped memory of the file itself: then its pages are still there, and they
// may be in use at other addresses, where the program has moved them.
bool map_file(Service& service, const Range& range) {
  if (service.moved_away(range)) return false;
  if (service.file.has_data(range)) service.file.punch(range);
  void* const at = pointer(range.begin);
  service.widen(range);
  if (mmap(at, range.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, service.file.fd(),
           static_cast<off_t>(range.begin)) == MAP_FAILED) {
    return false;
  }
  if (range.bytes() >= kHugePage && shared_memory_can_be_huge()) {
    madvise(at, range.bytes(), MADV_HUGEPAGE);
  }
  return true;
}

ChangingRange* find_born(std::uintptr_t begin) {
  const std::size_t count = most_born.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < count; ++i) {
    const Range range = born[i].get();
    if (begin == 0 ? range.empty() : !range.empty() && range.begin == begin) return &born[i];
  }
  return nullptr;
}

// Returns a free entry, or null.
ChangingRange* free_entry() {
  if (ChangingRange* const found = find_born(0)) return found;
  const std::size_t count = most_born.load(std::memory_order_relaxed);
  if (count == kMostBorn) return nullptr;
  most_born.store(count + 1, std::memory_order_release);
  return &born[count];
}

void forget_prepared(const Range& range) {
  for (Prepared& each : prepared) {
    if (!each.range.get().within(range).empty()) each.range.set({});
  }
}

void forget(Service& service, ChangingRange& entry) {
  const Range range = entry.get();
  service.born_bytes -= range.bytes();
  forget_prepared(range);
  entry.set({});
}

// Forgets what the program has unmapped or moved itself.
void forget_all(Service& service, const Range& range) {
  const std::size_t count = most_born.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < count; ++i) {
    if (!born[i].get().within(range).empty()) forget(service, born[i]);
  }
}

}  // namespace

void* allocate_shared(std::size_t bytes, std::size_t alignment) {
  Service& own = service();
  if (bytes < kLeastBorn || alignment > kMostBornAlignment || bytes > SIZE_MAX / 4) return nullptr;
  const std::size_t size = round_up(bytes, kPage);
  if (own.closed.load() == Refusal::not_open || !costs_nothing(own, size)) return nullptr;
  const Hold hold(Hold::Way::wait);
  if (own.closed.load() != Refusal::none) return nullptr;  // not only while another thread forks
  ChangingRange* const entry = own.file.is_own() ? free_entry() : nullptr;
  const std::size_t least = size >= kHugePage ? kHugePage : kPage;
  Range range;
  if (!entry || !reserve_in_one_window(size, std::max(least, alignment), range)) return nullptr;
  if (!map_file(own, range)) {
    munmap(pointer(range.begin), size);
    return nullptr;
  }
  forget_all(own, range);
  entry->set(range);
  ++own.ranges;
  own.born_bytes += size;
  times.fetch_add(1, std::memory_order_relaxed);
  bytes_in_all.fetch_add(size, std::memory_order_relaxed);
  return pointer(range.begin);
}

bool free_shared(void* address) {
  Service& own = service();
  const Range first = range_of(address, kPage);
  if (!own.near(first)) return false;
  const Hold hold(Hold::Way::wait);
  ChangingRange* const entry = find_born(first.begin);
  if (!entry) return false;
  const Range range = entry->get();
  forget(own, *entry);
  const bool forked = own.closed.load() == Refusal::forked;
  Mapping mapping;
  if (!forked && own.maps.find(first.begin, Search::covering, mapping) &&
      !own.file.in_place(mapping)) {
    return false;  // the program has moved or unmapped it, and the memory here is the MPI's
  }
  if (!forked) own.file.punch(range);
  munmap(address, range.bytes());
  return true;
}

bool is_born_shared(const void* address, std::size_t bytes) {
  const Range buffer = range_of(address, bytes);
  if (!service().near(buffer)) return false;
  const std::size_t count = most_born.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (holds(born[i].get(), buffer)) return true;
  }
  return false;
}

bool overlaps_born_shared(const Range& range) {
  const std::size_t count = most_born.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (!born[i].get().within(range).empty()) return true;
  }
  return false;
}

bool prepare_shared(const void* address, std::size_t bytes) {
  constexpr std::uint32_t kHugeAtUse = 8;
  const Service& own = service();
  const Range pages = interior(address, bytes);
  if (pages.empty()) return false;
  Prepared& known = prepared_at(pages.begin);
  if (holds(known.range.get(), pages)) {
    const bool due = known.uses.fetch_add(1, std::memory_order_relaxed) + 1 == kHugeAtUse;
    if (due && own.kernel.collapses && (private_memory_is_huge() || own.settings.huge_always)) {
      make_huge(pages, pointer(pages.begin));
    }
    return true;
  }
  if (own.kernel.populates && madvise(pointer(pages.begin), pages.bytes(), kPopulateWrite) != 0) {
    return false;
  }
  known.range.set(pages);
  known.uses.store(1, std::memory_order_relaxed);
  return true;
}

BornCounts born_counts() {
  return {times.load(std::memory_order_relaxed), bytes_in_all.load(std::memory_order_relaxed)};
}

}  // namespace sumac::promotion
