// SPDX-License-Identifier: BSD-3-Clause
// The memory of a rank on one side of a call that moves data: blocks of elements in layouts, and
// the bytes between them, which nobody may write.
#pragma once

#include <algorithm>

#include "layout.h"
#include "mpi/data.h"

namespace test::sweep {

struct Block {
  const Layout* layout = nullptr;
  std::size_t count = 0;  // elements
  MPI_Aint start = 0;     // bytes from the address that the call is given

  std::size_t types() const { return count / layout->group(); }
};

class Side {
 public:
  std::vector<Block> blocks;

  // Places the blocks: one behind the other in their order, or `apart`, in any order with gaps.
  // Starts are multiples of all extents where all layouts are the same.
  void place(bool apart, std::uint64_t seed, std::size_t element) {
    std::vector<std::size_t> order(blocks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    Random random(seed);
    for (std::size_t i = order.size(); apart && i > 1; --i) {
      std::swap(order[i - 1], order[random.below(i)]);
    }
    MPI_Aint end = 0;
    for (const std::size_t b : order) {
      Block& block = blocks[b];
      if (apart) end += static_cast<MPI_Aint>(random.below(3)) * block.layout->extent;
      block.start = end;
      end += static_cast<MPI_Aint>(block.types()) * block.layout->extent;
    }
    // No layout reaches more than 8 elements beyond its extent on either side.
    room_ = static_cast<std::size_t>(8) * element;
    memory_ = std::make_unique<Buffer>(static_cast<std::size_t>(end) + 2 * room_, seed >> 20 & 31);
    image_.resize(static_cast<std::size_t>(end) + 2 * room_);
  }

  void* address() { return memory_->given() + room_; }
  void clear() { std::fill(image_.begin(), image_.end(), kGap); }
  // Has block `b` of the expected image hold `value(k)`, of `element` bytes, at element k.
  template <class Value>
  void put(std::size_t b, std::size_t element, Value value) {
    const Block& block = blocks[b];
    for (std::size_t k = 0; k < block.count; ++k) {
      const std::uint64_t bits = value(k), again[] = {bits, ~bits};
      unsigned char* to = image_.data() + room_ + block.start + block.layout->at(k);
      std::memcpy(to, again, element);
    }
  }
  void store() { std::memcpy(memory_->data(), image_.data(), image_.size()); }
  // The place of the first byte that is not as in the image, from the call's address; or -kNone.
  static constexpr long kNone = -1000000000;
  long differs() {
    const auto* memory = memory_->as<unsigned char>();
    const auto end = image_.end();
    const auto found = std::mismatch(image_.begin(), end, memory).first;
    return found == end ? kNone : found - image_.begin() - static_cast<long>(room_);
  }
  bool guards_hold() const { return memory_->guards_hold(); }

 private:
  static constexpr unsigned char kGap = 0xee;
  std::size_t room_ = 0;
  std::unique_ptr<Buffer> memory_;
  std::vector<unsigned char> image_;
};

}  // namespace test::sweep
