// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/strided_copy.h"

#include <cstdint>
#include <cstring>

#include "base/cpu.h"
#include "kernels/sets.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace sumac {
namespace {

// Blocks at least this far apart are requested ahead: the processor's own prefetching follows
// shorter strides, and none across pages. They go to the second-level cache: where strides are
// powers of two, the first one has room for few of them.
constexpr std::ptrdiff_t kLeastPrefetched = 512;
constexpr std::ptrdiff_t kAhead = 16;  // blocks

bool is_far(std::ptrdiff_t stride) {
  return stride >= kLeastPrefetched || stride <= -kLeastPrefetched;
}

struct Blocks {
  std::byte* to;
  std::ptrdiff_t to_stride;
  const std::byte* from;
  std::ptrdiff_t from_stride;
  std::ptrdiff_t count;
};

template <std::size_t block>
inline void copy_one(const Blocks& blocks, std::ptrdiff_t i) {
  __builtin_memcpy(blocks.to + i * blocks.to_stride, blocks.from + i * blocks.from_stride, block);
}

// Blocks of a size that the compiler knows.
template <std::size_t block>
void copy_fixed(const Blocks blocks) {
  std::ptrdiff_t i = 0;
  if (is_far(blocks.from_stride)) {
    for (; i + kAhead < blocks.count; ++i) {
      __builtin_prefetch(blocks.from + (i + kAhead) * blocks.from_stride, 0, 2);
      copy_one<block>(blocks, i);
    }
  } else if (is_far(blocks.to_stride)) {
    for (; i + kAhead < blocks.count; ++i) {
      prefetch_for_write(blocks.to + (i + kAhead) * blocks.to_stride);
      copy_one<block>(blocks, i);
    }
  }
  for (; i + 8 <= blocks.count; i += 8) {
    for (std::ptrdiff_t j = i; j < i + 8; ++j) copy_one<block>(blocks, j);
  }
  for (; i < blocks.count; ++i) copy_one<block>(blocks, i);
}

struct Grid {
  std::byte* to;
  GridStrides to_strides;
  const std::byte* from;
  GridStrides from_strides;
  std::ptrdiff_t blocks, rows;

  Blocks row(std::ptrdiff_t i) const {
    return {to + i * to_strides.row, to_strides.block, from + i * from_strides.row,
            from_strides.block, blocks};
  }
};

// As many blocks in a row as the compiler knows.
template <std::size_t block, int blocks>
void copy_rows(const Grid grid) {
  for (std::ptrdiff_t i = 0; i < grid.rows; ++i) {
    const Blocks row = grid.row(i);
    for (int j = 0; j < blocks; ++j) copy_one<block>(row, j);
  }
}

template <std::size_t block>
void copy_grid_fixed(const Grid& grid) {
  constexpr int kInLine = 64 / block;
  if (grid.blocks == kInLine) return copy_rows<block, kInLine>(grid);
  for (std::ptrdiff_t i = 0; i < grid.rows; ++i) {
    const Blocks row = grid.row(i);
    for (std::ptrdiff_t j = 0; j < row.count; ++j) copy_one<block>(row, j);
  }
}

void copy_any(const Blocks& blocks, std::size_t block) {
  for (std::ptrdiff_t i = 0; i < blocks.count; ++i) {
    std::memcpy(blocks.to + i * blocks.to_stride, blocks.from + i * blocks.from_stride, block);
  }
}

void copy_known(const Blocks& blocks, std::size_t block) {
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
  Blocks blocks{to, to_stride, from, from_stride, static_cast<std::ptrdiff_t>(count)};
  if (count >= kWorthwhile && to_stride == static_cast<std::ptrdiff_t>(block)) {
    if (const ThinOutFn thin_out = find_thin_out(block, from_stride)) {
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

// Far enough for memory, within a page for most blocks.
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
