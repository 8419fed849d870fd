// SPDX-License-Identifier: BSD-3-Clause
// Tests compare layouts with the place of each packed byte, one by one.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "layout/mover.h"
#include "layout/run_list.h"

namespace sumac {

// The places are indexed by packed byte, and counted from the element's address.
using BytePlaces = std::vector<std::ptrdiff_t>;

// A layout, and the places that it should have.
struct Pair {
  DataLayout layout;
  BytePlaces places;
};

inline BytePlaces moved(BytePlaces places, std::ptrdiff_t by) {
  for (auto& place : places) place += by;
  return places;
}

inline void append(BytePlaces& to, const BytePlaces& more, std::ptrdiff_t by) {
  for (const auto place : more) to.push_back(place + by);
}

inline Pair block_pair(std::size_t bytes) {
  Pair pair{layout_of_block(bytes), {}};
  for (std::size_t i = 0; i < bytes; ++i) pair.places.push_back(static_cast<std::ptrdiff_t>(i));
  return pair;
}

inline Pair repeated_pair(const Pair& inner, std::size_t count, std::ptrdiff_t stride) {
  Pair pair{repeated(inner.layout, count, stride), {}};
  for (std::size_t i = 0; i < count; ++i) {
    append(pair.places, inner.places, static_cast<std::ptrdiff_t>(i) * stride);
  }
  return pair;
}

// The memory lies between two pages that must not be touched, and is just large enough for the
// elements.
class GuardedMemory {
 public:
  GuardedMemory(std::ptrdiff_t low, std::ptrdiff_t high, bool at_end) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const auto bytes = static_cast<std::size_t>(high - low);
    inner_ = std::max<std::size_t>(1, (bytes + page - 1) / page) * page;
    whole_bytes_ = inner_ + 2 * page;
    whole_ = static_cast<std::byte*>(
        mmap(nullptr, whole_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    begin_ = whole_ + page;
    mprotect(begin_, inner_, PROT_READ | PROT_WRITE);
    origin_ = (at_end ? begin_ + (inner_ - bytes) : begin_) - low;
  }
  ~GuardedMemory() { munmap(whole_, whole_bytes_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* origin() const { return origin_; }  // places are counted from here
  std::byte* begin() const { return begin_; }
  std::size_t size() const { return inner_; }
  void fill(unsigned seed) {
    for (std::size_t i = 0; i < inner_; ++i) {
      begin_[i] = static_cast<std::byte>((i * 2654435761u + seed) >> 7);
    }
  }

 private:
  std::size_t inner_, whole_bytes_;
  std::byte *whole_, *begin_, *origin_;
};

// Compares packing and unpacking of a range with copies of single bytes.
class LayoutComparison {
 public:
  LayoutComparison(const Pair& element, std::size_t count, std::ptrdiff_t extent, bool at_end)
      : element_(element), count_(count), extent_(extent) {
    all_ = repeated_pair({{}, element.places}, count, extent).places;
    const auto [low, high] = std::minmax_element(all_.begin(), all_.end());
    low_ = all_.empty() ? 0 : *low;
    high_ = all_.empty() ? 0 : *high + 1;
    memory_ = std::make_unique<GuardedMemory>(low_, high_, at_end);
    memory_->fill(1);
    original_.assign(memory_->begin(), memory_->begin() + memory_->size());
    packed_ = std::make_unique<GuardedMemory>(0, static_cast<std::ptrdiff_t>(bytes()), at_end);
  }

  std::size_t bytes() const { return all_.size(); }
  // BytePlaces that occur twice could not be unpacked in a defined order.
  bool overlaps() const {
    BytePlaces sorted = all_;
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  }

  void pack_range(std::size_t from, std::size_t to) {
    std::byte* const packed = place_for(to - from, from % 2 == 0);
    pack(elements(), from, to - from, packed);
    for (std::size_t i = from; i < to; ++i) {
      ASSERT_EQ(memory_->origin()[all_[i]], packed[i - from])
          << "packed byte " << i << " of " << bytes() << ", from " << from << " to " << to;
    }
  }
  void unpack_range(std::size_t from, std::size_t to) {
    const std::byte* const packed = place_for(to - from, from % 2 == 1);
    packed_->fill(99);
    std::vector<std::byte> expected = original_;
    for (std::size_t i = from; i < to; ++i) {
      const std::ptrdiff_t place = memory_->origin() + all_[i] - memory_->begin();
      expected[static_cast<std::size_t>(place)] = packed[i - from];
    }
    unpack(elements(), from, to - from, packed);
    ASSERT_EQ(0, std::memcmp(expected.data(), memory_->begin(), expected.size()))
        << "unpacked from " << from << " to " << to << " of " << bytes();
    std::memcpy(memory_->begin(), original_.data(), original_.size());
  }

 private:
  LaidOut elements() const { return {element_.layout, count_, extent_, memory_->origin()}; }

  // Returns memory for packed bytes that begins or ends beside a page that must not be touched.
  std::byte* place_for(std::size_t some, bool at_end) const {
    return packed_->begin() + (at_end ? packed_->size() - some : 0);
  }

  const Pair& element_;
  std::size_t count_;
  std::ptrdiff_t extent_;
  BytePlaces all_;
  std::vector<std::byte> original_;
  std::ptrdiff_t low_, high_;
  std::unique_ptr<GuardedMemory> memory_, packed_;
};

// Compares the whole and, if there are at most `most` packed bytes, all ranges that begin or end in
// the middle.
inline void compare(const Pair& element, std::size_t count, std::ptrdiff_t extent,
                    std::size_t most) {
  if (!element.places.empty()) {
    const auto [low, high] = std::minmax_element(element.places.begin(), element.places.end());
    ASSERT_EQ((DataBounds{*low, *high + 1}), bounds_of(element.layout));
  }
  for (const bool at_end : {false, true}) {
    LayoutComparison comparison(element, count, extent, at_end);
    const std::size_t bytes = comparison.bytes();
    ASSERT_EQ(element.layout.bytes() * count, bytes);
    const bool unpacks = !comparison.overlaps();
    const std::size_t step = std::max<std::size_t>(1, bytes / most);
    for (std::size_t split = 0; split <= bytes; split += step) {
      ASSERT_NO_FATAL_FAILURE(comparison.pack_range(0, split));
      ASSERT_NO_FATAL_FAILURE(comparison.pack_range(split, bytes));
      ASSERT_NO_FATAL_FAILURE(comparison.pack_range(split, std::min(bytes, split + 5)));
      if (!unpacks) continue;
      ASSERT_NO_FATAL_FAILURE(comparison.unpack_range(0, split));
      ASSERT_NO_FATAL_FAILURE(comparison.unpack_range(split, bytes));
      ASSERT_NO_FATAL_FAILURE(comparison.unpack_range(split, std::min(bytes, split + 5)));
    }
  }
}

}  // namespace sumac
