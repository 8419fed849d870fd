// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_mappings.h"

#include <algorithm>

namespace sumac {

void SharedMappings::add(const SharedMapping& mapping) {
  const std::lock_guard<std::mutex> lock(mutex_);
  mappings_.push_back(mapping);
  count_.store(mappings_.size(), std::memory_order_release);
}

void SharedMappings::remove(const SharedMapping& mapping) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto place = std::find(mappings_.begin(), mappings_.end(), mapping);
  if (place != mappings_.end()) mappings_.erase(place);
  count_.store(mappings_.size(), std::memory_order_release);
}

SharedPlace SharedMappings::place_of(const void* address, std::size_t bytes) const {
  if (count_.load(std::memory_order_acquire) == 0) return {};
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const SharedMapping& mapping : mappings_) {
    const bool inside = begin >= mapping.begin && begin <= mapping.end;
    if (inside && bytes <= mapping.end - begin) return mapping.place();
  }
  return {};
}

std::byte* SharedMappings::find(const SharedPlace& place, std::uintptr_t address,
                                std::size_t bytes) const {
  const std::uint64_t offset = address - place.base;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const SharedMapping& mapping : mappings_) {
    if (mapping.file != place.file || offset < mapping.offset) continue;
    const std::uint64_t within = offset - mapping.offset, size = mapping.end - mapping.begin;
    if (within > size || bytes > size - within) continue;
    return reinterpret_cast<std::byte*>(mapping.begin + within);
  }
  return nullptr;
}

SharedMappings& shared_mappings() {
  // This object is never destroyed, since windows may be freed while the process ends.
  static auto* the_mappings = new SharedMappings;
  return *the_mappings;
}

std::byte* SharedViews::view(int peer, std::uintptr_t address, std::size_t bytes) {
  for (const Buffer& buffer : buffers_) {
    const bool inside = buffer.peer == peer && address >= buffer.begin && address < buffer.end;
    if (inside) return shared_mappings().find(buffer.place, address, bytes);
  }
  return other_.view(peer, address, bytes);
}

}  // namespace sumac
