// SPDX-License-Identifier: BSD-3-Clause
// This map from pairs of MPI handles, a type and an operation, is read without a lock. Pairs are
// added one by one and stay until all are forgotten.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace sumac {

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
