// SPDX-License-Identifier: BSD-3-Clause
// These tables find something from a handle, or from two.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

#include "strands/lock.h"

namespace sumac {

template <class Value>
class HandleTable {
 public:
  // Returns null if the handle is not in the table.
  Value* find(std::uintptr_t handle) const {
    for (std::size_t i = home(handle);; i = (i + 1) & mask()) {
      if (!places_[i].value) return nullptr;
      if (places_[i].handle == handle) return places_[i].value;
    }
  }

  // Requires that the handle is not in the table.
  void insert(std::uintptr_t handle, Value* value) {
    if (2 * (used_ + 1) > places_.size()) grow();
    put({handle, value});
    ++used_;
  }

  // Requires that the handle is in the table. Entries behind it move up, so that no search stops
  // too early.
  void erase(std::uintptr_t handle) {
    std::size_t gap = home(handle);
    while (places_[gap].handle != handle || !places_[gap].value) gap = (gap + 1) & mask();
    for (std::size_t i = (gap + 1) & mask(); places_[i].value; i = (i + 1) & mask()) {
      const bool passes_gap = ((i - home(places_[i].handle)) & mask()) >= ((i - gap) & mask());
      if (!passes_gap) continue;
      places_[gap] = places_[i];
      gap = i;
    }
    places_[gap] = Place();
    --used_;
  }

 private:
  struct Place {
    std::uintptr_t handle = 0;
    Value* value = nullptr;
  };
  std::size_t mask() const { return places_.size() - 1; }
  std::size_t home(std::uintptr_t handle) const {
    return (handle * 0x9e3779b97f4a7c15ull >> 32) & mask();
  }
  void put(const Place& place) {
    std::size_t i = home(place.handle);
    while (places_[i].value) i = (i + 1) & mask();
    places_[i] = place;
  }
  void grow() {
    std::vector<Place> old(2 * places_.size());
    old.swap(places_);
    for (const Place& place : old) {
      if (place.value) put(place);
    }
  }

  std::vector<Place> places_ = std::vector<Place>(256);
  std::size_t used_ = 0;
};

// This map from MPI handles to small values is read without a lock. It is for tables that hardly
// change; HandleTable is for many handles that come and go.
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

// This map from pairs of MPI handles, a type and an operation, is read without a lock. Pairs are
// added one by one and stay until all are forgotten.
template <class Value, int kHomeBits>
class PairMap {
 public:
  // Returns null if the pair is not in the map. The value stays where it is until clear().
  const Value* find(std::uintptr_t first, std::uintptr_t second) const {
    const Entry* entry = home_of(first, second).load(std::memory_order_acquire);
    while (entry && (entry->first != first || entry->second != second)) entry = entry->next;
    return entry ? &entry->value : nullptr;
  }

  // Does nothing if there is no memory. Two threads may add the same pair at once; either value is
  // found.
  void insert(std::uintptr_t first, std::uintptr_t second, const Value& value) {
    std::atomic<const Entry*>& home = homes_[number_of(first, second)];
    Entry* entry = new (std::nothrow) Entry{first, second, value, home.load()};
    while (entry && !home.compare_exchange_weak(entry->next, entry, std::memory_order_release)) {
    }
  }

  // No thread may use the map meanwhile.
  void clear() {
    for (std::atomic<const Entry*>& home : homes_) {
      const Entry* entry = home.exchange(nullptr);
      while (entry) {
        const Entry* next = entry->next;
        delete entry;
        entry = next;
      }
    }
  }

 private:
  struct Entry {
    std::uintptr_t first, second;
    Value value;
    const Entry* next;
  };

  // The factors are odd and unrelated: in MPICH the handles of types and of operations are numbers
  // that follow one another, so that a sum with small factors is the same for many pairs.
  static std::size_t number_of(std::uintptr_t first, std::uintptr_t second) {
    const std::uint64_t mixed = first * 0x9e3779b97f4a7c15ull + second * 0xc2b2ae3d27d4eb4full;
    return static_cast<std::size_t>(mixed >> (64 - kHomeBits));
  }
  const std::atomic<const Entry*>& home_of(std::uintptr_t first, std::uintptr_t second) const {
    return homes_[number_of(first, second)];
  }

  std::atomic<const Entry*> homes_[1 << kHomeBits] = {};  // each is the first entry of a list
};

}  // namespace sumac
