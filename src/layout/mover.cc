// SPDX-License-Identifier: BSD-3-Clause
#include "layout/mover.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "kernels/strided_copy.h"

namespace sumac {
namespace {

// Copies `half` to twice as many bytes by two copies of `half` bytes, which overlap.
template <std::size_t half>
inline void copy_both_ends(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::byte first[half], last[half];
  __builtin_memcpy(first, from, half);
  __builtin_memcpy(last, from + bytes - half, half);
  __builtin_memcpy(to, first, half);
  __builtin_memcpy(to + bytes - half, last, half);
}

// This is memcpy for blocks that are mostly short, without a call.
inline void short_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 64) {
    std::memcpy(to, from, bytes);
  } else if (bytes > 32) {
    copy_both_ends<32>(to, from, bytes);
  } else if (bytes > 16) {
    copy_both_ends<16>(to, from, bytes);
  } else if (bytes >= 8) {
    copy_both_ends<8>(to, from, bytes);
  } else if (bytes >= 4) {
    copy_both_ends<4>(to, from, bytes);
  } else if (bytes >= 2) {
    copy_both_ends<2>(to, from, bytes);
  } else if (bytes == 1) {
    *to = *from;
  }
}

using Loop = LayoutNode::Loop;
using Runs = LayoutNode::Runs;
using Sequence = LayoutNode::Sequence;

// Blocks of at least this length are stored past the caches one by one, if that is wanted.
constexpr std::size_t kStreamedOut = 1024, kStreamedIn = 64;

// Loops are exchanged from kLeastAcross repetitions on, if they have at most kFewBlocks blocks; at
// most kFewOfKnown if the kernel of tiles knows the block, since it takes longer rows at least as
// fast.
constexpr std::size_t kLeastAcross = 4, kFewBlocks = 16, kFewOfKnown = 3;
constexpr std::size_t kLine = 64;  // bytes

bool is_known_to_tiles(std::size_t block) { return block == 4 || block == 8 || block == 16; }

// Returns how many repetitions are exchanged at a time. Data outside the caches take those of a few
// lines: the next pass begins while the lines of this one still come, which the processor's
// prefetching would not bring at strides of more than a line. If repetitions are far apart, each
// has pages of its own, and short tiles gain nothing.
std::size_t tile_across(std::ptrdiff_t stride, bool streams) {
  constexpr std::size_t kLong = 64, kSpan = 1024;
  const auto apart = static_cast<std::size_t>(std::abs(stride));
  return streams && apart > 0 && apart <= 2 * kLine ? std::min(kLong, kSpan / apart) : kLong;
}
// Short runs are packed in one or two pieces of this many bytes, because telling their exact
// lengths apart would cost branches.
constexpr std::size_t kWide = 32;
// A tile is this wide in each of its rows: wider than a line, since rows seldom begin where a line
// does.
constexpr std::size_t kTileWidth = 2 * kLine;

std::ptrdiff_t times(std::size_t count, std::ptrdiff_t stride) {
  return static_cast<std::ptrdiff_t>(count) * stride;
}

// Copies from memory to the packed bytes.
struct StreamedPacking {
  std::byte* packed;
  bool streams;

  template <std::size_t bytes>
  void copy_fixed(const std::byte* place) {
    __builtin_memcpy(packed, place, bytes);
    packed += bytes;
  }
  // copy_wide() may be used here, since packed bytes that are written too early are overwritten.
  static constexpr bool kCanCopyWide = true;
  // Copies at most Runs::kWideMost bytes. Reads and writes fewer than kWide bytes more.
  void copy_wide(const std::byte* place, std::size_t bytes) {
    __builtin_memcpy(packed, place, kWide);
    if (bytes > kWide) __builtin_memcpy(packed + kWide, place + kWide, kWide);
    packed += bytes;
  }

  bool is_long(std::size_t bytes) const {
    return bytes > kMostOfBlock || (streams && bytes >= kStreamedOut);
  }
  void copy(const std::byte* place, std::size_t bytes) {
    if (streams && bytes >= kStreamedOut) {
      stream_copy(packed, place, bytes);
    } else {
      short_copy(packed, place, bytes);
    }
    packed += bytes;
  }
  // Copies `count` blocks, packed at a stride. Leaves `packed` where it is.
  void copy_loop(const std::byte* place, std::ptrdiff_t stride, std::ptrdiff_t packed_stride,
                 std::size_t block, std::size_t count, std::size_t offset) {
    const bool adjoin = packed_stride == static_cast<std::ptrdiff_t>(block);
    if (streams && adjoin && stream_blocks(packed + offset, place, stride, block, count)) return;
    copy_blocks(packed + offset, packed_stride, place, stride, block, count);
  }
  void copy_tile(const std::byte* place, GridStrides strides, GridStrides packed_strides,
                 std::size_t block, std::size_t blocks, std::size_t rows) {
    copy_grid(packed, packed_strides, place, strides, block, blocks, rows);
  }
};

struct Unpacking {
  const std::byte* packed;
  bool streams;

  static constexpr bool kCanCopyWide = false;
  template <std::size_t bytes>
  void copy_fixed(std::byte* place) {
    __builtin_memcpy(place, packed, bytes);
    packed += bytes;
  }

  bool is_long(std::size_t bytes) const {
    return bytes > kMostOfBlock || (streams && bytes >= kStreamedIn);
  }
  void copy(std::byte* place, std::size_t bytes) {
    if (streams && bytes >= kStreamedIn) {
      stream_copy(place, packed, bytes);
    } else {
      short_copy(place, packed, bytes);
    }
    packed += bytes;
  }
  void copy_loop(std::byte* place, std::ptrdiff_t stride, std::ptrdiff_t packed_stride,
                 std::size_t block, std::size_t count, std::size_t offset) {
    copy_blocks(place, stride, packed + offset, packed_stride, block, count);
  }
  void copy_tile(std::byte* place, GridStrides strides, GridStrides packed_strides,
                 std::size_t block, std::size_t blocks, std::size_t rows) {
    copy_grid(place, strides, packed, packed_strides, block, blocks, rows);
  }
};

// Walks a layout over the packed bytes from `from` to `to`, for the node that begins at `place`.
template <class Way>
class Mover {
 public:
  explicit Mover(Way way) : way_(way) {}

  void loop(const LayoutNode& child, std::size_t count, std::ptrdiff_t stride, std::byte* place,
            std::size_t from, std::size_t to) {
    if (from == 0 && to == child.bytes * count) return repeat(child, count, stride, place);
    place += times(from / child.bytes, stride);
    if (const std::size_t skipped = from % child.bytes; skipped > 0) {
      const std::size_t some = std::min(child.bytes - skipped, to - from);
      move(child, place, skipped, skipped + some);
      from += some;
      place += stride;
    }
    const std::size_t whole = (to - from) / child.bytes;
    repeat(child, whole, stride, place);
    from += whole * child.bytes;
    if (from < to) move(child, place + times(whole, stride), 0, to - from);
  }

 private:
  void move(const LayoutNode& node, std::byte* place, std::size_t from, std::size_t to) {
    if (const auto* inner = std::get_if<Loop>(&node.form)) {
      loop(*inner->child, inner->count, inner->stride, place, from, to);
    } else if (const auto* list = std::get_if<Runs>(&node.form)) {
      runs(*list, node.bytes, place, from, to);
    } else if (const auto* items = std::get_if<Sequence>(&node.form)) {
      sequence(*items, place, from, to);
    } else {
      way_.copy(place + from, to - from);
    }
  }

  // Copies all of the node, `count` times.
  void repeat(const LayoutNode& node, std::size_t count, std::ptrdiff_t stride, std::byte* place) {
    if (count == 0) return;
    if (std::holds_alternative<LayoutNode::Block>(node.form)) {
      return blocks(node.bytes, count, stride, place);
    }
    const auto* inner = std::get_if<Loop>(&node.form);
    if (inner && times(inner->count, inner->stride) == stride) {
      return repeat(*inner->child, count * inner->count, inner->stride, place);
    }
    if (count >= kLeastAcross && inner) {
      if (loops(*inner, node.bytes, count, stride, place)) return;
    } else if (count >= kLeastAcross) {
      if (runs_across(node, count, stride, place)) return;
    }
    for (std::size_t i = 0; i < count; ++i) move(node, place + times(i, stride), 0, node.bytes);
  }

  void blocks(std::size_t bytes, std::size_t count, std::ptrdiff_t stride, std::byte* place) {
    const auto adjoining = static_cast<std::ptrdiff_t>(bytes);
    if (stride == adjoining) return way_.copy(place, bytes * count);
    if (way_.is_long(bytes)) {
      for (std::size_t i = 0; i < count; ++i) way_.copy(place + times(i, stride), bytes);
    } else {
      way_.copy_loop(place, stride, adjoining, bytes, count, 0);
      way_.packed += bytes * count;
    }
  }

  // Copies two loops at once. They are exchanged, a tile at a time, if the inner one is the shorter
  // one, or if its stride is the longer one and each line of memory would be visited many times.
  bool loops(const Loop& inner, std::size_t bytes, std::size_t count, std::ptrdiff_t stride,
             std::byte* place) {
    const std::size_t block = inner.child->bytes;
    if (!std::holds_alternative<LayoutNode::Block>(inner.child->form) || way_.is_long(block)) {
      return false;
    }
    const auto packed_stride = static_cast<std::ptrdiff_t>(bytes);
    if (inner.count <= (is_known_to_tiles(block) ? kFewOfKnown : kFewBlocks) &&
        inner.count < count) {
      in_tiles(bytes, count, tile_across(stride, way_.streams),
               [&](std::size_t first, std::size_t some) {
                 std::byte* const begin = place + times(first, stride);
                 for (std::size_t j = 0; j < inner.count; ++j) {
                   way_.copy_loop(begin + times(j, inner.stride), stride, packed_stride, block,
                                  some, j * block);
                 }
               });
      return true;
    }
    const auto adjoining = static_cast<std::ptrdiff_t>(block);
    const bool is_crosswise = std::abs(stride) < std::abs(inner.stride) && block < kLine;
    if (!is_crosswise) {
      if (inner.count > kFewBlocks) return false;
      way_.copy_tile(place, {inner.stride, stride}, {adjoining, packed_stride}, block, inner.count,
                     count);
      way_.packed += bytes * count;
      return true;
    }
    const GridStrides packed_strides{packed_stride, adjoining};
    in_tiles(bytes, count, kTileWidth / block, [&](std::size_t first, std::size_t some) {
      way_.copy_tile(place + times(first, stride), {stride, inner.stride}, packed_strides, block,
                     some, inner.count);
    });
    return true;
  }

  bool runs_across(const LayoutNode& node, std::size_t count, std::ptrdiff_t stride,
                   std::byte* place) {
    const auto* list = std::get_if<Runs>(&node.form);
    if (!list || list->child || list->runs.size() > kFewBlocks) return false;
    if (way_.is_long(node.bytes / list->runs.size())) return false;
    in_tiles(node.bytes, count, tile_across(stride, way_.streams),
             [&](std::size_t first, std::size_t some) {
               std::size_t offset = 0;
               for (std::size_t i = 0; i < list->runs.size(); ++i) {
                 std::byte* const begin = place + times(first, stride) + place_of(*list, i);
                 const std::size_t block = list->runs[i].units;
                 way_.copy_loop(begin, stride, static_cast<std::ptrdiff_t>(node.bytes), block, some,
                                offset);
                 offset += block;
               }
             });
    return true;
  }

  template <class Step>
  void in_tiles(std::size_t bytes, std::size_t count, std::size_t tile, Step step) {
    for (std::size_t done = 0; done < count; done += tile) {
      const std::size_t some = std::min(tile, count - done);
      step(done, some);
      way_.packed += bytes * some;
    }
  }

  static std::ptrdiff_t place_of(const Runs& list, std::size_t run) {
    auto group = list.groups.begin();
    while (group + 1 != list.groups.end() && (group + 1)->first <= run) ++group;
    return group->at + list.runs[run].at;
  }

  // `bytes` is the number of packed bytes in the whole list.
  void runs(const Runs& list, std::size_t bytes, std::byte* place, std::size_t from,
            std::size_t to) {
    const auto after = std::upper_bound(
        list.groups.begin(), list.groups.end(), from / list.unit,
        [](std::size_t unit, const Runs::Group& group) { return unit < group.before; });
    for (auto group = after - 1; from < to; ++group) {
      const bool is_last = group + 1 == list.groups.end();
      const std::size_t end = is_last ? list.runs.size() : (group + 1)->first;
      std::byte* const base = place + group->at;
      std::size_t begin = group->before * list.unit;  // where the run begins, in packed bytes
      const std::size_t behind = is_last ? bytes : (group + 1)->before * list.unit;
      if (!list.child && begin == from && behind <= to) {
        whole_runs(list, *group, end, base, to - from);
        from = behind;
        continue;
      }
      for (std::size_t i = group->first; i < end && from < to; ++i) {
        const std::size_t of_run = list.runs[i].units * list.unit;
        if (begin + of_run > from) {
          const std::size_t some = std::min(begin + of_run, to);
          run(list, list.runs[i], base, from - begin, some - begin);
          from = some;
        }
        begin += of_run;
      }
    }
  }

  // Copies runs of bytes that are wanted whole. `left` is the number of packed bytes from the first
  // of them on.
  void whole_runs(const Runs& list, const Runs::Group& group, std::size_t end, std::byte* base,
                  std::size_t left) {
    const std::size_t first = group.first;
    switch (list.equal) {
      case 1:
        return equal_runs<1>(list, first, end, base);
      case 2:
        return equal_runs<2>(list, first, end, base);
      case 4:
        return equal_runs<4>(list, first, end, base);
      case 8:
        return equal_runs<8>(list, first, end, base);
      case 16:
        return equal_runs<16>(list, first, end, base);
    }
    Way way = way_;  // see equal_runs()
    const Runs::Run* run = list.runs.data() + first;
    const Runs::Run* const behind = list.runs.data() + end;
    if constexpr (Way::kCanCopyWide) {
      const Runs::Run* const wide = run + group.wide;
      const std::byte* const last = way.packed + left - Runs::kWideMost;
      for (; run < wide && way.packed <= last; ++run) way.copy_wide(base + run->at, run->units);
    }
    for (; run < behind; ++run) way.copy(base + run->at, run->units);
    way_ = way;
  }

  template <std::size_t bytes>
  void equal_runs(const Runs& list, std::size_t first, std::size_t end, std::byte* base) {
    // This copy stays in registers: the compiler could take the bytes written for the object
    Way way = way_;
    for (std::size_t i = first; i < end; ++i) {
      way.template copy_fixed<bytes>(base + list.runs[i].at);
    }
    way_ = way;
  }

  void run(const Runs& list, const Runs::Run& run, std::byte* base, std::size_t from,
           std::size_t to) {
    if (list.child) return loop(*list.child, run.units, list.stride, base + run.at, from, to);
    way_.copy(base + run.at + from, to - from);
  }

  void sequence(const Sequence& sequence, std::byte* place, std::size_t from, std::size_t to) {
    const auto after = std::upper_bound(
        sequence.items.begin(), sequence.items.end(), from,
        [](std::size_t byte, const Sequence::Item& item) { return byte < item.before; });
    for (auto item = after - 1; from < to; ++item) {
      const std::size_t end = std::min(item->before + item->node->bytes, to);
      move(*item->node, place + item->at, from - item->before, end - item->before);
      from = end;
    }
  }

  Way way_;
};

template <class Way>
void walk(const LaidOut& elements, std::size_t offset, std::size_t bytes, Way way) {
  const DataLayout& layout = elements.layout;
  Mover<Way>(way).loop(*layout.node, elements.count, elements.extent, elements.memory + layout.at,
                       offset, offset + bytes);
}

}  // namespace

void pack(const LaidOut& elements, std::size_t offset, std::size_t bytes, std::byte* to) {
  if (bytes == 0) return;
  const bool streams = bytes >= least_streamed();
  walk(elements, offset, bytes, StreamedPacking{to, streams});
  if (streams) end_streaming();
}

void unpack(const LaidOut& elements, std::size_t offset, std::size_t bytes, const std::byte* from) {
  if (bytes == 0) return;
  const bool streams = elements.bytes() >= least_streamed();
  walk(elements, offset, bytes, Unpacking{from, streams});
  if (streams) end_streaming();
}

}  // namespace sumac
