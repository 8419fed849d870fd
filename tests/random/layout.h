// SPDX-License-Identifier: BSD-3-Clause
// Layouts of elements in memory: predefined types, types derived of them, and a rank's memory in
// such layouts.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <vector>

#include "mpi/data.h"

namespace test::sweep {

// Elements of one predefined type: `type` holds offsets.size() of them, `extent` bytes apart from
// the next.
struct Layout {
  const char* name;
  MPI_Datatype type;
  std::vector<MPI_Aint> offsets;
  MPI_Aint extent;

  std::size_t group() const { return offsets.size(); }
  // Where element k lies, in bytes from the address of the first type.
  MPI_Aint at(std::size_t k) const {
    return static_cast<MPI_Aint>(k / group()) * extent + offsets[k % group()];
  }
};

struct Base {
  const char* name;
  MPI_Datatype type;
  std::size_t size;
  std::vector<Layout> layouts;  // the first kSingles of one element
};
inline constexpr std::size_t kSingles = 3;

inline std::vector<Layout> layouts_of(MPI_Datatype type, MPI_Aint size) {
  MPI_Datatype spaced, vector, indexed, two, shifted, four, structure;
  MPI_Type_create_resized(type, 0, 3 * size, &spaced);
  MPI_Type_vector(2, 1, 2, type, &vector);
  const int lengths[] = {2, 1, 1}, places[] = {3, 0, 6};
  MPI_Type_indexed(3, lengths, places, type, &indexed);
  MPI_Type_contiguous(2, type, &two);
  MPI_Type_create_resized(two, -size, 4 * size, &shifted);
  MPI_Type_contiguous(4, type, &four);
  const int counts[] = {1, 1};
  const MPI_Aint starts[] = {0, 4 * size};
  const MPI_Datatype types[] = {vector, two};
  MPI_Type_create_struct(2, counts, starts, types, &structure);
  MPI_Type_free(&two);
  const MPI_Aint s = size;
  std::vector<Layout> all{{"", type, {0}, s},
                          {"", type, {0}, s},
                          {"every third ", spaced, {0}, 3 * s},
                          {"vector of ", vector, {0, 2 * s}, 3 * s},
                          {"indexed ", indexed, {3 * s, 4 * s, 0, 6 * s}, 7 * s},
                          {"shifted ", shifted, {0, s}, 4 * s},
                          {"4 ", four, {0, s, 2 * s, 3 * s}, 4 * s},
                          {"struct of ", structure, {0, 2 * s, 4 * s, 5 * s}, 6 * s}};
  for (std::size_t i = 2; i < all.size(); ++i) MPI_Type_commit(&all[i].type);
  return all;
}

inline const std::vector<Base>& bases() {
  static const std::vector<Base> all = [] {
    std::vector<Base> made{{"byte", MPI_BYTE, 1, {}},
                           {"short", MPI_SHORT, 2, {}},
                           {"int", MPI_INT, 4, {}},
                           {"float", MPI_FLOAT, 4, {}},
                           {"double", MPI_DOUBLE, 8, {}},
                           {"int64", MPI_INT64_T, 8, {}},
                           {"complex", MPI_C_DOUBLE_COMPLEX, 16, {}}};
    for (Base& base : made) base.layouts = layouts_of(base.type, static_cast<MPI_Aint>(base.size));
    return made;
  }();
  return all;
}

// The memory of a rank on one side of a call that moves data: blocks of elements in layouts, and
// the bytes between them, which nobody may write.

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

  void* address() { return memory_->as<unsigned char>() + room_; }
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
