// SPDX-License-Identifier: BSD-3-Clause
// This memory holds data with gaps.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

#include "algorithms/bytes.h"

namespace sumac::testing {

// A gap follows every run of kRun packed bytes in this memory.
class Strided final : public ByteLayout {
 public:
  // Holds a copy of `bytes` packed bytes.
  Strided(const std::byte* from, std::size_t bytes)
      : bytes_(bytes), memory_(place_of(bytes) + kStride, kGap) {
    unpack(0, bytes, from);
  }
  void pack(std::size_t offset, std::size_t bytes, std::byte* to) const override {
    check(offset, bytes);
    for (std::size_t i = 0; i < bytes; ++i) to[i] = memory_[place_of(offset + i)];
  }
  void unpack(std::size_t offset, std::size_t bytes, const std::byte* from) const override {
    check(offset, bytes);
    for (std::size_t i = 0; i < bytes; ++i) memory_[place_of(offset + i)] = from[i];
  }
  // Returns false if somebody wrote into a gap.
  bool gaps_are_intact() const {
    std::vector<std::byte> gaps = memory_;
    for (std::size_t i = 0; i < bytes_; ++i) gaps[place_of(i)] = kGap;
    return std::count(gaps.begin(), gaps.end(), kGap) == static_cast<long>(gaps.size());
  }

 private:
  static constexpr std::size_t kRun = 5, kStride = 8;
  static constexpr std::byte kGap{0xee};
  static std::size_t place_of(std::size_t offset) {
    return offset / kRun * kStride + offset % kRun;
  }
  void check(std::size_t offset, std::size_t bytes) const {
    if (offset > bytes_ || bytes > bytes_ - offset) std::abort();
  }

  std::size_t bytes_;
  mutable std::vector<std::byte> memory_;
};

// The data of a call lie as the rank's buffer has them, or in memory with gaps.
class MaybeStrided {
 public:
  // Copies the data into memory with gaps if they are to be `strided`.
  void begin(std::byte* at, std::size_t bytes, bool strided) {
    at_ = at;
    bytes_ = bytes;
    layout_ = strided ? std::make_unique<Strided>(at, bytes) : nullptr;
  }
  Bytes data() const { return layout_ ? Bytes(layout_.get(), 0) : Bytes(at_); }
  // Brings the buffer up to date, or the memory with gaps.
  void read() const {
    if (!layout_) return;
    EXPECT_TRUE(layout_->gaps_are_intact());
    layout_->pack(0, bytes_, at_);
  }
  void write() const {
    if (layout_) layout_->unpack(0, bytes_, at_);
  }

 private:
  std::byte* at_ = nullptr;
  std::size_t bytes_ = 0;
  std::unique_ptr<Strided> layout_;
};

}  // namespace sumac::testing
