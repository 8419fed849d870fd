// SPDX-License-Identifier: BSD-3-Clause
// This table maps the MPI's handles to what Sumac keeps for them. It uses open addressing with
// linear probing; the caller locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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

}  // namespace sumac
