// SPDX-License-Identifier: BSD-3-Clause
#include "stand_in_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>

namespace stand_in {
namespace {

constexpr std::size_t kPage = 4096, kArena = std::size_t{1} << 32;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

template <class Map>
typename Map::const_iterator containing(const Map& map, std::uintptr_t at) {
  const auto next = map.upper_bound(at);
  return next == map.begin() ? map.end() : std::prev(next);
}

void protect(std::uintptr_t at, std::size_t bytes, bool open) {
  mprotect(reinterpret_cast<void*>(at), whole_pages(bytes),
           open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

}  // namespace

void Memory::map() {
  const int file = memfd_create("stand-in", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(kArena)) != 0) std::abort();
  const auto map_with = [file](int access) {
    void* const at = mmap(nullptr, kArena, access, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (at == MAP_FAILED) std::abort();
    return static_cast<char*>(at);
  };
  device_side_ = map_with(PROT_NONE);
  host_side_ = map_with(PROT_READ | PROT_WRITE);
  close(file);
}

void Memory::initialise() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (state_ != State::not_initialised) return;
  map();
  state_ = State::ready;
}

State Memory::state() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return state_;
}

void Memory::shut_down() {
  const std::lock_guard<std::mutex> lock(mutex_);
  state_ = State::shut_down;
}

void* Memory::allocate(std::size_t bytes, bool managed) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (state_ != State::ready || bytes == 0) return nullptr;
  const std::size_t size = whole_pages(bytes);
  std::uintptr_t at = 0;
  if (const auto found = freed_.find(size); found != freed_.end()) {
    at = found->second;
    freed_.erase(found);
  } else {
    if (used_ + size + kPage > kArena) return nullptr;
    at = number(device_side_) + used_;
    used_ += size + kPage;
  }
  if (managed) protect(at, size, true);
  allocations_[at] = {bytes, managed, false};
  return reinterpret_cast<void*>(at);
}

bool Memory::free(void* memory) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = allocations_.find(number(memory));
  if (found == allocations_.end()) return false;
  protect(found->first, found->second.bytes, false);
  freed_.emplace(whole_pages(found->second.bytes), found->first);
  allocations_.erase(found);
  return true;
}

void Memory::pin(void* pages, std::size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  pinned_[number(pages)] = bytes;
  ++counts_.registered;
}

bool Memory::unpin(void* pages) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return pinned_.erase(number(pages)) > 0;
}

void* Memory::view(const void* memory) const {
  return host_side_ + (number(memory) - number(device_side_));
}

void Memory::set_host(void* memory, bool is_host) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Allocation& of = allocations_.at(number(memory));
  of.host = is_host;
  protect(number(memory), of.bytes, is_host);
}

// Returns the allocation that has all of these bytes, or null.
const Memory::Allocation* Memory::find(const void* address, std::size_t bytes) const {
  const auto found = containing(allocations_, number(address));
  if (found == allocations_.end()) return nullptr;
  const bool inside = number(address) + bytes <= found->first + found->second.bytes;
  return inside && !found->second.host ? &found->second : nullptr;
}

Kind Memory::kind_of(const void* address, bool same_call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++counts_.calls;
  if (!same_call) ++counts_.queries;
  if (const Allocation* const of = find(address, 1)) {
    return of->managed ? Kind::managed : Kind::device;
  }
  const auto pinned = containing(pinned_, number(address));
  const bool is_pinned =
      pinned != pinned_.end() && number(address) < pinned->first + pinned->second;
  return is_pinned ? Kind::pinned : Kind::unknown;
}

bool Memory::is_device(const void* address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return find(address, 1) != nullptr;
}

// Notes a copy to be done later.
Copied Memory::copy(Stream& stream, void* to, const void* from, std::size_t bytes, bool to_host) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stream.device != 0 || !find(to_host ? from : to, bytes)) return Copied::badly;
  if (copies_until_failure == 0) return Copied::failed;
  if (copies_until_failure > 0) --copies_until_failure;
  void* const into = to_host ? to : view(to);
  waiting_.push_back({&stream, static_cast<char*>(into),
                      static_cast<const char*>(to_host ? view(from) : from), bytes});
  const auto length = std::chrono::microseconds(pace * bytes >> 20);
  stream.busy_until = std::max(stream.busy_until, std::chrono::steady_clock::now()) + length;
  ++(to_host ? counts_.to_host : counts_.to_device);
  (to_host ? counts_.bytes_to_host : counts_.bytes_to_device) += bytes;
  return Copied::well;
}

void Memory::wait(Stream& stream) {
  if (delay > 0) usleep(delay);
  std::this_thread::sleep_until(stream.busy_until);
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(waiting_, [&stream](const Copy& copy) {
    if (copy.stream != &stream) return false;
    std::memcpy(copy.to, copy.from, copy.bytes);
    return true;
  });
}

void Memory::note_mistake() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++counts_.mistakes;
}

StandInCounts Memory::counts() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counts_;
}

Memory& memory() {
  static auto* the_memory = new Memory;
  return *the_memory;
}

}  // namespace stand_in

using stand_in::memory;

STAND_IN_EXPORT void stand_in_initialise() { memory().initialise(); }
STAND_IN_EXPORT void* stand_in_allocate(std::size_t bytes, int managed) {
  return memory().allocate(bytes, managed != 0);
}
STAND_IN_EXPORT void stand_in_free(void* of) { memory().free(of); }
STAND_IN_EXPORT void stand_in_pin(void* pages, std::size_t bytes) { memory().pin(pages, bytes); }
STAND_IN_EXPORT void stand_in_unpin(void* pages) { memory().unpin(pages); }
STAND_IN_EXPORT void* stand_in_view(void* of) { return memory().view(of); }
STAND_IN_EXPORT void stand_in_set_host(void* of, int is_host) {
  memory().set_host(of, is_host != 0);
}
STAND_IN_EXPORT StandInCounts stand_in_counts() { return memory().counts(); }
STAND_IN_EXPORT void stand_in_fail_copy(long after) { memory().copies_until_failure = after; }
STAND_IN_EXPORT void stand_in_delay(unsigned microseconds) { memory().delay = microseconds; }
STAND_IN_EXPORT void stand_in_pace(unsigned microseconds) { memory().pace = microseconds; }
STAND_IN_EXPORT void stand_in_shut_down() { memory().shut_down(); }
