// SPDX-License-Identifier: BSD-3-Clause
// Packing a datatype comes down to copies of blocks at a constant stride.
#pragma once

#include <cstddef>

namespace sumac {

// Copies `count` blocks of `block` bytes, which lie `to_stride` and `from_stride` bytes apart.
// Strides may have any sign and size, and blocks may be unaligned. Nothing outside the blocks is
// written, and nothing outside the range from the first block to the last one is read. The ranges
// must not overlap.
void copy_blocks(std::byte* to, std::ptrdiff_t to_stride, const std::byte* from,
                 std::ptrdiff_t from_stride, std::size_t block, std::size_t count);

// The strides lead from one block to the next, and from one row to the next, in bytes.
struct GridStrides {
  std::ptrdiff_t block, row;
};
// Does the same for `rows` rows of few blocks each, such as a tile of a matrix.
void copy_grid(std::byte* to, GridStrides to_strides, const std::byte* from,
               GridStrides from_strides, std::size_t block, std::size_t blocks, std::size_t rows);

// Up to this length of block this is faster than single copies.
inline constexpr std::size_t kMostOfBlock = 64;

// Copies small blocks to adjoining places by shuffling whole vectors, as long as these do not
// reach beyond the last block. Returns how many blocks it has copied; the others are the caller's.
using ThinOutFn = std::size_t (*)(std::byte* to, const std::byte* from, std::size_t count);
// Returns the function of the instruction set in use, or null if single loads are as fast. With
// `streams` it stores past the caches, as stream_copy() does; `to` must then be at a multiple of
// kStreamedAt.
ThinOutFn find_thin_out(std::size_t block, std::ptrdiff_t stride, bool streams);
inline constexpr std::size_t kStreamedAt = 64;

// Copies like memcpy, but past the caches. end_streaming() must follow before other threads are
// told of the data.
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes);
void end_streaming();
// Does the same for blocks that are copied one behind the other. Returns false, and does nothing,
// if it is not made for such blocks.
bool stream_blocks(std::byte* to, const std::byte* from, std::ptrdiff_t stride, std::size_t block,
                   std::size_t count);

// Results of this many bytes and more should be stored past the caches, see set_stream_bytes in
// reduce.h.
std::size_t least_streamed();

}  // namespace sumac
