// SPDX-License-Identifier: BSD-3-Clause
// Blocks at a constant stride: what packing a datatype comes down to.
#pragma once

#include <cstddef>

namespace sumac {

// `count` blocks of `block` bytes are copied, `to_stride` and `from_stride` bytes from one to the
// next, of any sign and size, and unaligned. Nothing outside the blocks is written, and nothing
// outside the range from the first block to the last one is read. The ranges do not overlap.
void copy_blocks(std::byte* to, std::ptrdiff_t to_stride, const std::byte* from,
                 std::ptrdiff_t from_stride, std::size_t block, std::size_t count);

// Rows of blocks: from one block to the next, and from one row to the next.
struct GridStrides {
  std::ptrdiff_t block, row;
};
// The same for `rows` rows of few blocks each: a tile of a matrix.
void copy_grid(std::byte* to, GridStrides to_strides, const std::byte* from,
               GridStrides from_strides, std::size_t block, std::size_t blocks, std::size_t rows);

// The longest block for which this is faster than single copies.
inline constexpr std::size_t kMostOfBlock = 64;

// Copies small blocks to adjoining places by shuffling whole vectors, as long as these do not
// reach beyond the last block. Returns how many blocks it has copied; the others are the caller's.
using ThinOutFn = std::size_t (*)(std::byte* to, const std::byte* from, std::size_t count);
// The function of the instruction set in use; null where single loads are as fast. `streams`: past
// the caches, as stream_copy(); `to` must then be at a multiple of kStreamedAt.
ThinOutFn find_thin_out(std::size_t block, std::ptrdiff_t stride, bool streams);
inline constexpr std::size_t kStreamedAt = 64;

// memcpy past the caches. To be followed by end_streaming() before other threads are told of the
// data.
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes);
void end_streaming();
// The same for blocks that are copied one behind the other. Returns false, and does nothing, where
// it is not made for such blocks.
bool stream_blocks(std::byte* to, const std::byte* from, std::ptrdiff_t stride, std::size_t block,
                   std::size_t count);

// Bytes from which on results are better stored so, see set_stream_bytes in reduce.h.
std::size_t least_streamed();

}  // namespace sumac
