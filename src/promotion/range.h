// SPDX-License-Identifier: BSD-3-Clause
// A range of addresses is also a range of the file of promoted memory (address_space.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cpu.h"

namespace sumac::promotion {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

// The range is [begin, end). It is empty if end <= begin.
struct Range {
  std::uintptr_t begin = 0, end = 0;

  bool empty() const { return end <= begin; }
  std::size_t bytes() const { return empty() ? 0 : end - begin; }
  bool contains(std::uintptr_t address) const { return begin <= address && address < end; }
  bool contains(const Range& other) const { return begin <= other.begin && other.end <= end; }
  Range within(const Range& other) const {
    return {std::max(begin, other.begin), std::min(end, other.end)};
  }
};

// A range that threads change while others read it, who may see the ends of two.
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

inline std::byte* pointer(std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); }

// Returns the units (a power of two bytes) that lie wholly in the range.
inline Range whole_units(const Range& range, std::size_t unit) {
  return {(range.begin + unit - 1) & ~(unit - 1), range.end & ~(unit - 1)};
}

inline Range range_of(const void* address, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  return {begin, begin + bytes};
}

// Returns the whole pages of a buffer, on which no other data lie. Promotion moves these and no
// others.
inline Range interior(const void* address, std::size_t bytes) {
  return whole_units(range_of(address, bytes), kPage);
}

// The kernel describes one mapping by this.
struct Mapping : Range {
  std::uint64_t offset = 0;  // where `begin` is in the file
  std::uint64_t inode = 0;   // 0: it shows no file
  std::uint64_t device = 0;
  std::uint64_t page_bytes = 0;
  bool readable = false, writable = false, executable = false, shared = false;

  int protection() const;
  // Returns where the byte at `address` lies in the file.
  std::uint64_t offset_of(std::uintptr_t address) const { return offset + (address - begin); }
};

}  // namespace sumac::promotion
