// SPDX-License-Identifier: BSD-3-Clause
// The memory of a call: where its elements lie, what the memory holds before it, and what it must
// hold afterwards.
#pragma once

#include <memory>
#include <vector>

#include "numbers.h"

namespace test {

// Where elements lie: `type` holds offsets.size() of them, at these bytes from its address.
struct Layout {
  std::string name;
  MPI_Datatype type;
  std::vector<MPI_Aint> offsets;
  MPI_Aint extent;
  bool owns = false;

  Layout(std::string called, MPI_Datatype of, std::vector<MPI_Aint> at, MPI_Aint step, bool own)
      : name(std::move(called)), type(of), offsets(std::move(at)), extent(step), owns(own) {
    if (owns) MPI_Type_commit(&type);
  }
  ~Layout() { free(); }
  void free() {
    if (!owns) return;  // threads share such layouts
    MPI_Type_free(&type);
    owns = false;
  }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  std::size_t group() const { return offsets.size(); }
  MPI_Aint at(std::size_t k) const {
    return static_cast<MPI_Aint>(k / group()) * extent + offsets[k % group()];
  }
  bool is_plain(std::size_t size) const {
    return group() == 1 && offsets[0] == 0 && extent == static_cast<MPI_Aint>(size);
  }
};
using LayoutPointer = std::shared_ptr<Layout>;

inline LayoutPointer plain(const Numbers& n) {
  return std::make_shared<Layout>("", n.type, std::vector<MPI_Aint>{0},
                                  static_cast<MPI_Aint>(n.size), false);
}
// Types of `blocks` blocks of `length` elements, `stride` elements apart; of one block the extent
// is that stride, too.
inline LayoutPointer blocks(const char* name, const Numbers& n, int blocks, int length,
                            int stride) {
  const auto size = static_cast<MPI_Aint>(n.size);
  MPI_Datatype vector, type;
  MPI_Type_vector(blocks, length, stride, n.type, &vector);
  MPI_Type_create_resized(vector, 0, blocks * stride * size, &type);
  MPI_Type_free(&vector);
  std::vector<MPI_Aint> offsets;
  for (int k = 0; k < blocks * length; ++k) {
    offsets.push_back((k / length * stride + k % length) * size);
  }
  return std::make_shared<Layout>(name, type, std::move(offsets), blocks * stride * size, true);
}
inline LayoutPointer every_third(const Numbers& n) { return blocks("every third ", n, 1, 1, 3); }

// The memory on one side of a call, and what it must hold afterwards.
class CallSide {
 public:
  struct Block {
    std::size_t count;
    LayoutPointer layout;
    MPI_Aint start = 0;  // bytes from the address
    std::size_t types() const { return count / layout->group(); }
  };
  std::vector<Block> blocks;
  // Arguments of the call, which have to stay until it has ended.
  std::vector<int> counts, places;
  std::vector<MPI_Count> large_counts;
  std::vector<MPI_Aint> large_places;
  std::vector<MPI_Datatype> types;

  // Adds a block behind the last.
  void add(std::size_t count, LayoutPointer layout) {
    const Block block{count, std::move(layout), blocks.empty() ? 0 : end_of(blocks.back())};
    blocks.push_back(block);
  }
  // Places the blocks in any order, with gaps between some.
  void place_apart(std::uint64_t seed) {
    Random random(seed);
    std::vector<Block*> order;
    for (Block& block : blocks) order.push_back(&block);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    MPI_Aint end = -static_cast<MPI_Aint>(random.below(2)) * order[0]->layout->extent;
    for (Block* const block : order) {
      block->start = end + static_cast<MPI_Aint>(random.below(3)) * block->layout->extent;
      end = end_of(*block);
    }
  }
  // `room`: elements of the first block for which there must be memory.
  void allocate(const Numbers& n, std::size_t room, std::size_t misaligned, unsigned char gap) {
    MPI_Aint low = 0, high = 0;
    for (const Block& block : blocks) {
      const Layout& l = *block.layout;
      const std::size_t count = std::max(block.count, &block == blocks.data() ? room : 0);
      if (count == 0) continue;
      const auto [least, most] = std::minmax_element(l.offsets.begin(), l.offsets.end());
      const MPI_Aint last = static_cast<MPI_Aint>((count - 1) / l.group()) * l.extent;
      low = std::min(low, block.start + *least);
      high = std::max(high, block.start + last + *most + static_cast<MPI_Aint>(n.size + n.behind));
    }
    before_ = (static_cast<std::size_t>(-low) + n.before + 63) / 64 * 64 + kMargin;
    bytes_ = static_cast<std::size_t>(high);
    gap_ = gap;
    memory_ = std::make_unique<Buffer>(before_ + bytes_ + kMargin + misaligned);
    address_ = memory_->as<unsigned char>() + misaligned + before_;
    given_ = memory_->given() + misaligned + before_;
    image_.resize(before_ + bytes_ + kMargin);
  }
  // Memory of the caller's, around which nothing is looked at.
  void use(unsigned char* memory) {
    memory_.reset();
    address_ = given_ = memory;
    before_ = 0;
    image_.resize(bytes_);
  }

  unsigned char* address() { return address_; }
  const unsigned char* address() const { return address_; }
  // The address for MPI; the program itself uses the other one.
  unsigned char* given() { return given_; }
  std::size_t bytes() const { return bytes_; }
  bool is_empty() const {
    return std::all_of(blocks.begin(), blocks.end(), [](const Block& b) { return b.count == 0; });
  }
  void clear() { std::fill(image_.begin(), image_.end(), gap_); }
  void store() {
    if (!image_.empty()) std::memcpy(address_ - before_, image_.data(), image_.size());
  }
  unsigned char* at(const Block& block, std::size_t k) {
    return image_.data() + before_ + block.start + block.layout->at(k);
  }
  // Has the image hold these elements. Inputs of plain elements repeat after kPeriod, a prime, so
  // that large results are computed by copying.
  void put(const Numbers& n, std::size_t b, std::size_t count, Givers givers, std::size_t first,
           std::uint64_t seed) {
    const Block& block = blocks[b];
    const bool plain = block.layout->is_plain(n.size);
    if (count == 0) return;
    if (n.has_gaps && plain) return n.fold(at(block, 0), first, count, givers, seed);
    std::vector<unsigned char> table(std::min(kPeriod, first + count) * n.size);
    n.fold(table.data(), 0, table.size() / n.size, givers, seed);
    for (std::size_t k = 0; k < count;) {
      const std::size_t from = (first + k) % kPeriod;
      const std::size_t run = plain ? std::min(kPeriod - from, count - k) : 1;
      std::memcpy(at(block, k), &table[from * n.size], run * n.size);
      k += run;
    }
  }
  // Where memory may differ from the image, takes it as right.
  void forgive(const Numbers& n, std::size_t b, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
      unsigned char* const right = at(blocks[b], k);
      const unsigned char* const got = address_ - before_ + (right - image_.data());
      if (n.stands_for(got, right)) std::memcpy(right, got, n.size);
    }
  }
  // The first byte, from the address, that is not as in the image; kNone.
  static constexpr long kNone = -1000000000;
  long differs() const {
    const unsigned char* const memory = address_ - before_;
    if (image_.empty() || std::memcmp(memory, image_.data(), image_.size()) == 0) return kNone;
    const auto found = std::mismatch(image_.begin(), image_.end(), memory).first;
    return found - image_.begin() - static_cast<long>(before_);
  }
  unsigned expected(long byte) const { return image_[before_ + static_cast<std::size_t>(byte)]; }

  void make_arguments(bool in_bytes, bool absolute) {
    counts.clear(), places.clear(), types.clear();
    large_places.clear();
    for (const Block& block : blocks) {
      const MPI_Aint extent = block.layout->extent;
      const MPI_Aint place = in_bytes || extent == 0 ? block.start : block.start / extent;
      MPI_Aint base = 0;
      if (absolute) MPI_Get_address(given_, &base);
      counts.push_back(static_cast<int>(block.types()));
      places.push_back(static_cast<int>(place));
      large_places.push_back(place + base);
      types.push_back(block.layout->type);
    }
    large_counts.assign(counts.begin(), counts.end());
  }

 private:
  static constexpr std::size_t kPeriod = 4099, kMargin = 64;
  static MPI_Aint end_of(const Block& block) {
    return block.start + static_cast<MPI_Aint>(block.types()) * block.layout->extent;
  }

  std::unique_ptr<Buffer> memory_;
  std::vector<unsigned char> image_;
  unsigned char *address_ = nullptr, *given_ = nullptr;
  std::size_t before_ = 0, bytes_ = 0;  // `before_` lie before the address
  unsigned char gap_ = 0;
};

}  // namespace test
