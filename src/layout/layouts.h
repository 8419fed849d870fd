// SPDX-License-Identifier: BSD-3-Clause
// A layout says how the packed bytes of an element lie in memory, in a small normal form: blocks,
// loops over them, lists of runs. It is made bottom up, as MPI's datatypes are. The order of the
// packed bytes is that of the type map and part of the layout, so blocks are merged and loops
// collapsed only if they follow one another in that order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

namespace sumac {

struct LayoutNode;
using LayoutPointer = std::shared_ptr<const LayoutNode>;

// A layout is a node and the place where it begins, in bytes from the element's address. Without a
// node it has no bytes.
struct DataLayout {
  LayoutPointer node;
  std::ptrdiff_t at = 0;

  std::size_t bytes() const;
  std::size_t blocks() const;  // those that do not adjoin, as far as the normal form knows
  bool is_contiguous() const { return blocks() <= 1; }
};

struct LayoutNode {
  // A block is bytes one behind the other.
  struct Block {};
  struct Loop {
    LayoutPointer child;
    std::size_t count;
    std::ptrdiff_t stride;
  };
  // Each run has units of `unit` packed bytes, at a stride; without a child they are bytes that
  // adjoin. A run takes 8 bytes: its place is relative to that of its group, which is found by
  // bisection.
  struct Runs {
    struct Group {
      std::ptrdiff_t at;
      std::size_t first;   // number of its first run
      std::size_t before;  // units in the runs before
      // Number of runs at the group's beginning that have at most kWideMost bytes, and from whose
      // beginning kWideMost bytes can be read, because they are in pages that have data of the
      // group.
      std::uint32_t wide = 0;
    };
    static constexpr std::int64_t kWideMost = 64;
    struct Run {
      std::int32_t at;
      std::uint32_t units;
    };
    LayoutPointer child;
    std::size_t unit;
    std::ptrdiff_t stride;
    std::uint32_t equal;  // units of every run, or 0 if they differ
    std::vector<Group> groups;
    std::vector<Run> runs;
  };
  struct Sequence {
    struct Item {
      std::ptrdiff_t at;
      std::size_t before;  // packed bytes of the items before
      LayoutPointer node;
    };
    std::vector<Item> items;
  };

  std::size_t bytes;
  std::size_t blocks;
  std::variant<Block, Loop, Runs, Sequence> form;
};

inline std::size_t DataLayout::bytes() const { return node ? node->bytes : 0; }
inline std::size_t DataLayout::blocks() const { return node ? node->blocks : 0; }

DataLayout layout_of_block(std::size_t bytes);

// Returns `count` times `inner`, `stride` bytes from one to the next.
DataLayout repeated(const DataLayout& inner, std::size_t count, std::ptrdiff_t stride);

inline DataLayout shifted(DataLayout inner, std::ptrdiff_t by) {
  inner.at += by;
  return inner;
}

// Returns the parts one behind the other in packing order, wherever they are in memory.
DataLayout joined(const std::vector<DataLayout>& parts);

// The bytes of a layout that has any are at [low, high) from the element's address.
struct DataBounds {
  std::ptrdiff_t low, high;
  bool operator==(const DataBounds&) const = default;
};
DataBounds bounds_of(const DataLayout& layout);

// Returns the bytes of memory that the layout itself takes.
std::size_t memory_of(const DataLayout& layout);

}  // namespace sumac
