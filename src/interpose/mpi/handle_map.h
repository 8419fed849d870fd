// SPDX-License-Identifier: BSD-3-Clause
// This map from MPI handles to small values is read without a lock. It is for tables that hardly
// change; HandleTable is for many handles that come and go.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

#include "strands/lock.h"

namespace sumac {

template <class Value, int kHomeBits>
class HandleMap {
 public:
  // Returns null if the handle is not in the map. The value stays where it is until the handle is
  // erased.
  const Value* find(std::uintptr_t handle) const { return value_of(place_of(handle)); }

  // Returns the value that the handle then has, which is the one it had, if any. Returns null if
  // there is no memory.
  const Value* insert(std::uintptr_t handle, const Value& value) {
    const std::lock_guard<Lock> lock(writing_);
    if (Place* place = place_of(handle)) return &place->value;
    Place* place = free_place(handle);
    if (!place) return nullptr;
    place->value = value;
    place->handle.store(handle, std::memory_order_release);
    return &place->value;
  }
  // No thread may be looking the handle up. Its place is used again, and never freed.
  void erase(std::uintptr_t handle) {
    const std::lock_guard<Lock> lock(writing_);
    if (Place* place = place_of(handle)) place->handle.store(kFree, std::memory_order_relaxed);
  }
  // No thread may look anything up meanwhile.
  void clear() {
    const std::lock_guard<Lock> lock(writing_);
    for (Place& home : homes_) {
      for (Place* place = &home; place; place = place->next) place->handle = kFree;
    }
  }

 private:
  static constexpr std::uintptr_t kFree = 0;  // no handle is all zeros
  struct Place {
    std::atomic<std::uintptr_t> handle{kFree};
    std::atomic<Place*> next{nullptr};
    Value value = {};
  };

  static std::size_t home_of(std::uintptr_t handle) {
    return static_cast<std::size_t>(handle * 0x9e3779b97f4a7c15ull >> (64 - kHomeBits));
  }
  static const Value* value_of(const Place* place) { return place ? &place->value : nullptr; }
  const Place* place_of(std::uintptr_t handle) const {
    const Place* place = &homes_[home_of(handle)];
    while (place && place->handle.load(std::memory_order_acquire) != handle) {
      place = place->next.load(std::memory_order_acquire);
    }
    return place;
  }
  Place* place_of(std::uintptr_t handle) {
    return const_cast<Place*>(static_cast<const HandleMap*>(this)->place_of(handle));
  }
  // Returns a place of the handle's home that is not in use.
  Place* free_place(std::uintptr_t handle) {
    Place* place = &homes_[home_of(handle)];
    while (place->handle.load(std::memory_order_relaxed) != kFree) {
      if (!place->next) place->next = new (std::nothrow) Place;
      if (!(place = place->next)) return nullptr;
    }
    return place;
  }

  Lock writing_;
  Place homes_[1 << kHomeBits];  // each is the first place of a list
};

}  // namespace sumac
