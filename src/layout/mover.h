// SPDX-License-Identifier: BSD-3-Clause
// These functions copy packed bytes out of memory with a layout, and into it.
#pragma once

#include "layout/layouts.h"

namespace sumac {

// There are `count` elements, `extent` bytes from one to the next, the first at `memory`.
struct LaidOut {
  const DataLayout& layout;
  std::size_t count;
  std::ptrdiff_t extent;
  std::byte* memory;

  std::size_t bytes() const { return layout.bytes() * count; }
};

// Copies the packed bytes from `offset` on, which may be in the middle of anything. Several threads
// may pack at once, also from places that overlap; they may unpack at once only into places that do
// not.
void pack(const LaidOut& elements, std::size_t offset, std::size_t bytes, std::byte* to);
void unpack(const LaidOut& elements, std::size_t offset, std::size_t bytes, const std::byte* from);

}  // namespace sumac
