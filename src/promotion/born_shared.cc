// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/born_shared.h"

#include <sys/mman.h>

#include "base/hash.h"
#include "promotion/page_mover.h"
#include "promotion/page_state.h"
#include "promotion/service.h"

namespace sumac::promotion {
namespace {

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
  constexpr const char* kPath = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";
  static const bool can =
      file_says(kPath, "[") && !file_says(kPath, "[never]") && !file_says(kPath, "[deny]");
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
  return memory_is_promised() &&
         (!huge || shared_memory_can_be_huge() || service.kernel->features().collapses);
}

// Peers map whole windows, and see only what lies in one of them. So memory does not lie in two
// windows if it fits into one.
Range reserve_in_one_window(AddressSpace& kernel, std::size_t bytes, std::size_t alignment) {
  const Range range = reserve(kernel, bytes, alignment);
  const bool divided = range.begin / kPeerWindow != (range.end - 1) / kPeerWindow;
  if (range.empty() || !divided || bytes > kPeerWindow) return range;
  kernel.unmap(range);
  return reserve(kernel, bytes, kPeerWindow);
}

// The program may have unmapped memory of the file itself: then its pages are still there, and they
// may be in use at other addresses, where the program has moved them.
bool map_file(Service& service, const Range& range) {
  AddressSpace& kernel = *service.kernel;
  if (service.moved_away(range)) return false;
  if (kernel.has_data(range)) kernel.punch(range);
  service.widen(range);
  if (!kernel.map(range, {PROT_READ | PROT_WRITE, Contents::Source::file, range.begin})) {
    return false;
  }
  if (range.bytes() >= kHugePage && shared_memory_can_be_huge()) {
    kernel.advise(range, MADV_HUGEPAGE);
  }
  return true;
}

// Finds the entry that begins there, or a free one (0), or returns null.
ChangingRange* find_born(Service& service, std::uintptr_t begin) {
  Born& born = *service.born;
  const std::size_t count = born.most.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < count; ++i) {
    const Range range = born.ranges[i].get();
    if (range.empty() ? begin == 0 : range.begin == begin) return &born.ranges[i];
  }
  if (begin != 0 || count == kMostBorn) return nullptr;
  born.most.store(count + 1, std::memory_order_release);
  return &born.ranges[count];
}

void forget_prepared(const Range& range) {
  for (Prepared& each : prepared) {
    if (!each.range.get().within(range).empty()) each.range.set({});
  }
}

void forget(Service& service, ChangingRange& entry) {
  const Range range = entry.get();
  service.born->bytes -= range.bytes();
  forget_prepared(range);
  entry.set({});
}

// Calls act(entry) for the entries that overlap the range, until it returns true.
template <typename Act>
bool for_born(Service& service, const Range& range, Act&& act) {
  const std::size_t count = service.born->most.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    ChangingRange& entry = service.born->ranges[i];
    if (!entry.get().within(range).empty() && act(entry)) return true;
  }
  return false;
}

}  // namespace

void* allocate_shared(std::size_t bytes, std::size_t alignment) {
  Service& own = service();
  if (bytes < kLeastBorn || alignment > kMostBornAlignment || bytes > SIZE_MAX / 4) return nullptr;
  const std::size_t size = round_up(bytes, kPage);
  if (own.closed.load() == Refusal::not_open || !costs_nothing(own, size)) return nullptr;
  const std::unique_lock hold(own.lock);
  if (own.closed.load() != Refusal::none) return nullptr;  // not only while another thread forks
  ChangingRange* const entry = own.kernel->file_is_own() ? find_born(own, 0) : nullptr;
  if (!entry) return nullptr;
  const std::size_t least = size >= kHugePage ? kHugePage : kPage;
  const Range range = reserve_in_one_window(*own.kernel, size, std::max(least, alignment));
  if (range.empty()) return nullptr;
  if (!map_file(own, range)) {
    own.kernel->unmap(range);
    return nullptr;
  }
  // The program may have unmapped or moved others itself.
  for_born(own, range, [&](ChangingRange& other) { return forget(own, other), false; });
  entry->set(range);
  ++own.ranges;
  own.born->bytes += size;
  own.born->times.fetch_add(1, std::memory_order_relaxed);
  own.born->bytes_in_all.fetch_add(size, std::memory_order_relaxed);
  return pointer(range.begin);
}

bool free_shared(void* address) {
  Service& own = service();
  const Range first = range_of(address, kPage);
  if (!own.near(first)) return false;
  const std::unique_lock hold(own.lock);
  ChangingRange* const entry = find_born(own, first.begin);
  if (!entry) return false;
  const Range range = entry->get();
  forget(own, *entry);
  if (own.closed.load() != Refusal::forked) {
    // The program may have moved or unmapped it, and the memory here is the MPI's. Where this would
    // take a reading of all mappings, such a program is trusted.
    Mapping mapping;
    const bool found =
        own.kernel->features().queries && own.kernel->find(first.begin, Search::covering, mapping);
    if (found && !own.kernel->in_place(mapping)) return false;
    own.kernel->punch(range);
  }
  own.kernel->unmap(range);
  return true;
}

bool is_born_shared(const void* address, std::size_t bytes) {
  const Range buffer = range_of(address, bytes);
  return service().near(buffer) && for_born(service(), buffer, [&](ChangingRange& entry) {
           return entry.get().contains(buffer);
         });
}

bool overlaps_born_shared(const Range& range) {
  return for_born(service(), range, [](ChangingRange&) { return true; });
}

bool prepare_shared(const void* address, std::size_t bytes) {
  constexpr std::uint32_t kHugeAtUse = 8;
  const Service& own = service();
  const Range pages = interior(address, bytes);
  if (pages.empty()) return false;
  Prepared& known = prepared_at(pages.begin);
  if (known.range.get().contains(pages)) {
    const bool due = known.uses.fetch_add(1, std::memory_order_relaxed) + 1 == kHugeAtUse;
    const bool can = due && own.kernel->features().collapses;
    if (can && (private_memory_is_huge() || own.settings.huge_always)) {
      make_huge(*own.kernel, pages);
    }
    return true;
  }
  if (own.kernel->features().populates && !own.kernel->advise(pages, kPopulateWrite)) return false;
  known.range.set(pages);
  known.uses.store(1, std::memory_order_relaxed);
  return true;
}

}  // namespace sumac::promotion
