// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/strided_copy.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/cpu.h"
#include "kernels/sets.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace sumac {
namespace {

// Blocks at least this far apart are requested ahead, if they lie in so many lines that they come
// from memory: the processor's own prefetching follows only shorter strides, and none across pages.
// The lines of fewer blocks are in the last cache, and a request would cost as much as it saves.
constexpr std::ptrdiff_t kLeastPrefetched = 512;
constexpr std::ptrdiff_t kMostInCache = 64 << 10;  // lines
constexpr std::ptrdiff_t kAhead = 16;              // blocks

bool is_far(std::ptrdiff_t stride) {
  return stride >= kLeastPrefetched || stride <= -kLeastPrefetched;
}

struct StridedBlocks {
  std::byte* to;
  std::ptrdiff_t to_stride;
  const std::byte* from;
  std::ptrdiff_t from_stride;
  std::ptrdiff_t count;

  void advance(std::ptrdiff_t blocks) {
    to += blocks * to_stride;
    from += blocks * from_stride;
    count -= blocks;
  }
};

// Copies `at_once` blocks, of a size that the compiler knows. Small blocks are all loaded before
// any is stored.
template <std::size_t block, int at_once, class ToStride, class FromStride>
inline void copy_some(std::byte* to, ToStride to_stride, const std::byte* from,
                      FromStride from_stride) {
  if constexpr (block <= 16) {
    std::byte some[at_once][block];
    for (int i = 0; i < at_once; ++i) __builtin_memcpy(some[i], from + i * from_stride, block);
    for (int i = 0; i < at_once; ++i) __builtin_memcpy(to + i * to_stride, some[i], block);
  } else {
    for (int i = 0; i < at_once; ++i) {
      __builtin_memcpy(to + i * to_stride, from + i * from_stride, block);
    }
  }
}

// Copies all blocks. Addresses are added up, since products of a block's number and its stride
// would cost more than the copies.
template <std::size_t block, int at_once, class ToStride, class FromStride>
void copy_all(std::byte* to, ToStride to_stride, const std::byte* from, FromStride from_stride,
              std::ptrdiff_t count) {
  for (; count >= at_once; count -= at_once) {
    copy_some<block, at_once>(to, to_stride, from, from_stride);
    to += at_once * to_stride;
    from += at_once * from_stride;
  }
  for (; count > 0; --count) {
    __builtin_memcpy(to, from, block);
    to += to_stride;
    from += from_stride;
  }
}

// Does the same for blocks that are far apart on one side, requested ahead. Returns how many blocks
// it has copied.
template <std::size_t block>
std::ptrdiff_t copy_requested(StridedBlocks blocks) {
  const std::ptrdiff_t most = blocks.count;
  const bool reads_far = is_far(blocks.from_stride);
  while (blocks.count > kAhead) {
    if (reads_far) {
      __builtin_prefetch(blocks.from + kAhead * blocks.from_stride, 0, 3);
    } else {
      prefetch_for_write(blocks.to + kAhead * blocks.to_stride);
    }
    __builtin_memcpy(blocks.to, blocks.from, block);
    blocks.advance(1);
  }
  return most - blocks.count;
}

template <std::size_t block>
void copy_fixed(StridedBlocks blocks) {
  using Adjoining = std::integral_constant<std::ptrdiff_t, block>;
  const bool far = is_far(blocks.from_stride) || is_far(blocks.to_stride);
  if (far && blocks.count > kMostInCache) blocks.advance(copy_requested<block>(blocks));
  if (blocks.to_stride != Adjoining() && blocks.from_stride != Adjoining()) {
    copy_all<block, 4>(blocks.to, blocks.to_stride, blocks.from, blocks.from_stride, blocks.count);
  } else if (blocks.to_stride != Adjoining()) {
    copy_all<block, 4>(blocks.to, blocks.to_stride, blocks.from, Adjoining(), blocks.count);
  } else if (is_far(blocks.from_stride)) {
    // Each load is in a page of its own, and several at a time were slower.
    copy_all<block, 1>(blocks.to, Adjoining(), blocks.from, blocks.from_stride, blocks.count);
  } else {
    copy_all<block, 4>(blocks.to, Adjoining(), blocks.from, blocks.from_stride, blocks.count);
  }
}

struct Grid {
  std::byte* to;
  GridStrides to_strides;
  const std::byte* from;
  GridStrides from_strides;
  std::ptrdiff_t blocks, rows;

  StridedBlocks row(std::ptrdiff_t i) const {
    return {to + i * to_strides.row, to_strides.block, from + i * from_strides.row,
            from_strides.block, blocks};
  }
  // Returns true for blocks that adjoin in the rows on one side and in the columns on the other.
  bool is_transposed(std::ptrdiff_t block) const {
    return (to_strides.row == block && from_strides.block == block) ||
           (to_strides.block == block && from_strides.row == block);
  }
};

// Copies two rows at a time of a grid that is transposed, in squares of two by two doubles. Returns
// how many rows and columns of blocks it has copied, an even number of each.
struct Copied {
  std::ptrdiff_t blocks, rows;
};
Copied transpose_squares(const Grid& grid) {
  using Pair = double __attribute__((vector_size(16)));
  using Which = long long __attribute__((vector_size(16)));
  constexpr std::ptrdiff_t kDouble = sizeof(double);
  const Copied copied{grid.blocks & ~1, grid.rows & ~1};
  // The stride from one double to the next goes across the direction in which the side's doubles
  // adjoin.
  const bool rows_adjoin = grid.from_strides.block == kDouble;
  const std::ptrdiff_t from_next = rows_adjoin ? grid.from_strides.row : grid.from_strides.block;
  const std::ptrdiff_t to_next = rows_adjoin ? grid.to_strides.block : grid.to_strides.row;
  for (std::ptrdiff_t i = 0; i < copied.rows; i += 2) {
    const StridedBlocks row = grid.row(i);
    std::byte* to = row.to;
    const std::byte* from = row.from;
    for (std::ptrdiff_t j = 0; j < copied.blocks; j += 2) {
      Pair a, b;
      __builtin_memcpy(&a, from, sizeof a);
      __builtin_memcpy(&b, from + from_next, sizeof b);
      const Pair firsts = __builtin_shuffle(a, b, Which{0, 2});
      const Pair seconds = __builtin_shuffle(a, b, Which{1, 3});
      __builtin_memcpy(to, &firsts, sizeof a);
      __builtin_memcpy(to + to_next, &seconds, sizeof b);
      to += 2 * row.to_stride;
      from += 2 * row.from_stride;
    }
  }
  return copied;
}

// Copies a row of few blocks, without requests ahead.
template <std::size_t block>
void copy_fixed_row(const StridedBlocks& row) {
  using Adjoining = std::integral_constant<std::ptrdiff_t, block>;
  if (row.to_stride == Adjoining()) {
    copy_all<block, 4>(row.to, Adjoining(), row.from, row.from_stride, row.count);
  } else if (row.from_stride == Adjoining()) {
    copy_all<block, 4>(row.to, row.to_stride, row.from, Adjoining(), row.count);
  } else {
    copy_all<block, 1>(row.to, row.to_stride, row.from, row.from_stride, row.count);
  }
}

template <std::size_t block>
void copy_grid_fixed(const Grid& grid) {
  Copied copied{0, 0};
  if (block == sizeof(double) && grid.is_transposed(block)) copied = transpose_squares(grid);
  const std::ptrdiff_t first = copied.blocks == grid.blocks ? copied.rows : 0;
  for (std::ptrdiff_t i = first; i < grid.rows; ++i) {
    StridedBlocks row = grid.row(i);
    if (i < copied.rows) row.advance(copied.blocks);
    copy_fixed_row<block>(row);
  }
}

void copy_any(const StridedBlocks& blocks, std::size_t block) {
  for (std::ptrdiff_t i = 0; i < blocks.count; ++i) {
    std::memcpy(blocks.to + i * blocks.to_stride, blocks.from + i * blocks.from_stride, block);
  }
}

void copy_known(const StridedBlocks& blocks, std::size_t block) {
  switch (block) {
#define SUMAC_FIXED_BLOCK(bytes) \
  case bytes:                    \
    return copy_fixed<bytes>(blocks);
    SUMAC_FIXED_BLOCK(1)
    SUMAC_FIXED_BLOCK(2)
    SUMAC_FIXED_BLOCK(3)
    SUMAC_FIXED_BLOCK(4)
    SUMAC_FIXED_BLOCK(6)
    SUMAC_FIXED_BLOCK(8)
    SUMAC_FIXED_BLOCK(12)
    SUMAC_FIXED_BLOCK(16)
    SUMAC_FIXED_BLOCK(20)
    SUMAC_FIXED_BLOCK(24)
    SUMAC_FIXED_BLOCK(32)
    SUMAC_FIXED_BLOCK(40)
    SUMAC_FIXED_BLOCK(48)
    SUMAC_FIXED_BLOCK(64)
#undef SUMAC_FIXED_BLOCK
  }
  copy_any(blocks, block);
}

}  // namespace

void copy_blocks(std::byte* to, std::ptrdiff_t to_stride, const std::byte* from,
                 std::ptrdiff_t from_stride, std::size_t block, std::size_t count) {
  constexpr std::size_t kWorthwhile = 16;
  StridedBlocks blocks{to, to_stride, from, from_stride, static_cast<std::ptrdiff_t>(count)};
  if (count >= kWorthwhile && to_stride == static_cast<std::ptrdiff_t>(block)) {
    if (const ThinOutFn thin_out = find_thin_out(block, from_stride, false)) {
      const auto done = static_cast<std::ptrdiff_t>(thin_out(to, from, count));
      blocks = {to + done * to_stride, to_stride, from + done * from_stride, from_stride,
                blocks.count - done};
    }
  }
  copy_known(blocks, block);
}

void copy_grid(std::byte* to, GridStrides to_strides, const std::byte* from,
               GridStrides from_strides, std::size_t block, std::size_t blocks, std::size_t rows) {
  const Grid grid{to,
                  to_strides,
                  from,
                  from_strides,
                  static_cast<std::ptrdiff_t>(blocks),
                  static_cast<std::ptrdiff_t>(rows)};
  switch (block) {
    case 4:
      return copy_grid_fixed<4>(grid);
    case 8:
      return copy_grid_fixed<8>(grid);
    case 16:
      return copy_grid_fixed<16>(grid);
  }
  for (std::ptrdiff_t i = 0; i < grid.rows; ++i) copy_known(grid.row(i), block);
}

#if defined(__x86_64__)
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(to) % kLine;
  if (bytes < head + kLine) {
    std::memcpy(to, from, bytes);
    return;
  }
  std::memcpy(to, from, head);
  std::size_t at = head;
  for (; at + kLine <= bytes; at += kLine) {
    const auto* in = reinterpret_cast<const __m128i*>(from + at);
    auto* out = reinterpret_cast<__m128i*>(to + at);
    const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
    const __m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
  }
  std::memcpy(to + at, from + at, bytes - at);
}

void end_streaming() { _mm_sfence(); }

namespace {

// Streams small blocks. On Zen 4 it packs every second double of 64 MiB at 10 to 11 GB/s; other
// stores, which fetch each line from memory first, reach 7 to 8, and single loads and stores 9.
bool stream_thin(StridedBlocks blocks, std::size_t block) {
  const ThinOutFn thin_out = find_thin_out(block, blocks.from_stride, true);
  const auto place = reinterpret_cast<std::uintptr_t>(blocks.to);
  if (!thin_out || place % block != 0) return false;
  const auto head = static_cast<std::ptrdiff_t>(-place % kStreamedAt / block);
  if (blocks.count < head) return false;
  StridedBlocks first = blocks;
  first.count = head;
  copy_known(first, block);
  blocks.advance(head);
  const std::size_t done = thin_out(blocks.to, blocks.from, static_cast<std::size_t>(blocks.count));
  blocks.advance(static_cast<std::ptrdiff_t>(done));
  copy_known(blocks, block);
  return true;
}

// This distance is far enough for memory, and within a page for most blocks.
constexpr std::ptrdiff_t kStreamAhead = 4096;  // bytes

template <int units>
void stream_units(__m128i* to, const std::byte* from, std::ptrdiff_t stride, std::size_t count) {
  for (; count > 0; --count, from += stride, to += units) {
    _mm_prefetch(reinterpret_cast<const char*>(from) + kStreamAhead, _MM_HINT_T0);
    for (int i = 0; i < units; ++i) {
      _mm_stream_si128(to + i, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + i));
    }
  }
}

}  // namespace

bool stream_blocks(std::byte* to, const std::byte* from, std::ptrdiff_t stride, std::size_t block,
                   std::size_t count) {
  const auto adjoining = static_cast<std::ptrdiff_t>(block);
  if (block <= 8) {
    return stream_thin({to, adjoining, from, stride, static_cast<std::ptrdiff_t>(count)}, block);
  }
  auto* const out = reinterpret_cast<__m128i*>(to);
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof *out != 0 || is_far(stride)) return false;
  if (block == 64) {
    stream_units<4>(out, from, stride, count);
  } else if (block == 32) {
    stream_units<2>(out, from, stride, count);
  } else {
    return false;
  }
  return true;
}
#else
bool stream_blocks(std::byte*, const std::byte*, std::ptrdiff_t, std::size_t, std::size_t) {
  return false;
}

void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void end_streaming() {}
#endif

std::size_t least_streamed() { return stream_bytes.load(std::memory_order_relaxed); }

}  // namespace sumac
