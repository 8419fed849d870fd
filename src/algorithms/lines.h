// SPDX-License-Identifier: BSD-3-Clause
// Small messages are cache lines that carry their own flags: no line is waited for after a flag in
// another one, so all lines of a message travel at the same time. In a group without lines
// (ShmGroup::has_lines) a message is contiguous, behind one flag.
#pragma once

#include <cstring>

#include "algorithms/arguments.h"
#include "algorithms/chunks.h"
#include "transport/shm/group.h"

namespace sumac {

inline int lines_for(std::size_t bytes) { return static_cast<int>(div_up(bytes, kLineData)); }

// Writes `bytes` into this rank's lines. Each line is published as soon as it is full.
inline void put_lines(const ShmGroup& group, std::uint64_t position, const std::byte* from,
                      std::size_t bytes) {
  if (!group.has_lines()) [[unlikely]] {
    std::memcpy(group.small(group.rank(), position), from, bytes);
    return group.publish_in(position);
  }
  Line* line = &group.line(group.rank(), position, 0);
  const std::uint64_t flag = group.flag_of(position);
  for (; bytes > kLineData; ++line, from += kLineData, bytes -= kLineData) {
    std::memcpy(line->data, from, kLineData);
    publish(line->in, flag);
  }
  std::memcpy(line->data, from, bytes);
  publish(line->in, flag);
}

// Does the same for data that may have a layout.
inline void put_lines(const ShmGroup& group, std::uint64_t position, const ConstBytes& from,
                      std::size_t bytes) {
  alignas(kCacheLine) std::byte packed[round_up(kLinesData, kCacheLine)];
  put_lines(group, position, from.packed(packed, bytes), bytes);
}

// Waits for the lines that carry bytes [offset, offset + bytes) of a rank's message.
inline Wait lines_with(const ShmGroup& group, int rank, std::uint64_t position, std::size_t offset,
                       std::size_t bytes) {
  const std::size_t first = offset / kLineData;
  const std::size_t count = bytes == 0 ? 0 : (offset + bytes - 1) / kLineData - first + 1;
  return group.lines_in(rank, position, static_cast<int>(count), static_cast<int>(first));
}

// Collects `bytes` bytes from a rank's lines, from `offset` on, once all of them are in.
inline void take_lines(const ShmGroup& group, int rank, std::uint64_t position, std::byte* to,
                       std::size_t bytes, std::size_t offset = 0) {
  if (!group.has_lines()) [[unlikely]] {
    std::memcpy(to, group.small(rank, position) + offset, bytes);
    return;
  }
  const Line* line = &group.line(rank, position, static_cast<int>(offset / kLineData));
  const std::byte* from = line->data + offset % kLineData;
  for (std::size_t here = kLineData - offset % kLineData; bytes > here; here = kLineData) {
    std::memcpy(to, from, here);
    to += here;
    bytes -= here;
    from = (++line)->data;
  }
  std::memcpy(to, from, bytes);
}

inline void take_lines(const ShmGroup& group, int rank, std::uint64_t position, const Bytes& to,
                       std::size_t bytes, std::size_t offset = 0) {
  if (to.contiguous()) [[likely]]
    return take_lines(group, rank, position, to.at(), bytes, offset);
  alignas(kCacheLine) std::byte packed[round_up(kLinesData, kCacheLine)];
  take_lines(group, rank, position, packed, bytes, offset);
  to.copy_from(packed, bytes);
}

// The lines of some ranks are folded: those of rank_of(0), rank_of(1) and so on, in this order.
// This rank's own data come from `own`.
template <class RankOf>
struct LineSources {
  FoldOrder order;
  RankOf rank_of;
  const std::byte* own;
};

// Does fold_lines by the program's function, or when the data are not contiguous.
template <class RankOf>
void fold_lines_by_user(const ShmGroup& group, std::uint64_t position, const ReduceArguments& args,
                        const LineSources<RankOf>& from, Part part, std::byte* to) {
  alignas(kCacheLine) std::byte collected[round_up(kLinesData, kCacheLine)];
  fold(args, to, from.order, part.bytes / args.element, [&](int i) -> const std::byte* {
    const int rank = from.rank_of(i);
    if (rank == group.rank()) return from.own + part.offset;
    take_lines(group, rank, position, collected, part.bytes, part.offset);
    return collected;
  });
}

// Does fold_lines for data of several lines, at most kFoldedAtOnce bytes. These are collected on
// the stack, which is small in fibers.
inline constexpr std::size_t kFoldedAtOnce = 384;
template <class RankOf>
void fold_several_lines(const ShmGroup& group, std::uint64_t position, const ReduceArguments& args,
                        const LineSources<RankOf>& from, Part part, std::byte* to) {
  alignas(kCacheLine) std::byte collected[kMaxSources][kFoldedAtOnce];
  fold(args.kernel, to, from.order, part.bytes / args.element, args.element,
       [&](int i) -> const std::byte* {
         const int rank = from.rank_of(i);
         if (rank == group.rank()) return from.own + part.offset;
         std::byte* const copy = collected[i % kMaxSources];
         take_lines(group, rank, position, copy, part.bytes, part.offset);
         return copy;
       });
}

// Folds a part of these ranks' lines into `to`, which may be that part of `from.own`.
template <class RankOf>
void fold_lines(const ShmGroup& group, std::uint64_t position, const ReduceArguments& args,
                const LineSources<RankOf>& from, Part part, std::byte* to) {
  if (args.bytes() <= kLineData || !group.has_lines()) {
    fold(args, to, from.order, part.bytes / args.element, [&](int i) -> const std::byte* {
      const int rank = from.rank_of(i);
      return (rank == group.rank() ? from.own : group.small(rank, position)) + part.offset;
    });
    return;
  }
  if (args.user) return fold_lines_by_user(group, position, args, from, part, to);
  const std::size_t at_once = kFoldedAtOnce / args.element * args.element;
  for (std::size_t done = 0; done < part.bytes; done += at_once) {
    const Part piece{part.offset + done, std::min(at_once, part.bytes - done)};
    fold_several_lines(group, position, args, from, piece, to + done);
  }
}

// Folds a part of all ranks' lines into `to`, in the group's order. This rank's own data come from
// the input, and `to` may be that part of the input.
inline void fold_lines(const ShmGroup& group, std::uint64_t position, const ReduceArguments& args,
                       Part part, std::byte* to) {
  const LineSources all{group.fold_order(), [](int rank) { return rank; }, args.input};
  fold_lines(group, position, args, all, part, to);
}

// Folds the whole vector into the output.
inline void fold_lines(const ShmGroup& group, std::uint64_t position, const ReduceArguments& args) {
  fold_lines(group, position, args, {0, args.bytes()}, args.output);
}

}  // namespace sumac
