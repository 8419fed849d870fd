// SPDX-License-Identifier: BSD-3-Clause
// A vector goes through slots step by step: each step has a piece of every rank's part. The
// algorithms that split the work share this file; the arithmetic of the cuts is in classes of its
// own.
#pragma once

#include <cstring>

#include "algorithms/arguments.h"
#include "algorithms/chunks.h"
#include "transport/shm/group.h"

namespace sumac {

struct Piece {
  std::size_t offset;  // place in the vector
  std::size_t bytes;
  std::size_t place;  // place in a slot
};

// A chunk is as much as is used of a slot at once, divided into one part for each rank.
class SplitChunks {
 public:
  SplitChunks(int ranks, std::size_t bytes, std::size_t chunk, std::size_t unit)
      : chunks_(slot_chunks(bytes, chunk, unit)), ranks_(ranks), unit_(unit) {}
  std::size_t steps() const { return chunks_.count(); }
  std::size_t room() const { return chunks_.most(); }  // bytes of a slot that are used
  Piece piece(std::size_t step, int rank) const {
    const Part chunk = chunks_[step];
    const Part part = part_of(chunk.bytes, ranks_, rank, unit_);
    return {chunk.offset + part.offset, part.bytes, part.offset};
  }

 private:
  Chunks chunks_;
  int ranks_;
  std::size_t unit_;
};

// Here the parts are given, in the order of ranks and one behind the other. Each is cut into the
// same number of pieces, so that all ranks have work in every step. If a slot has no room for that
// (elements of a program's own may be large), the vector goes through chunk by chunk.
class SpreadParts {
 public:
  SpreadParts(const Parts& parts, std::size_t slot_bytes, std::size_t unit)
      : parts_(parts),
        unit_(unit),
        chunks_(slot_chunks(parts.bytes, slot_bytes, unit)),
        steps_(chunks_.count()) {
    // A piece is rounded up by less than a unit, and so is its place.
    const std::size_t rounding = static_cast<std::size_t>(parts.ranks) * unit;
    spread_ = rounding <= slot_bytes / 2;
    if (spread_ && parts.bytes > 0) steps_ = div_up(parts.bytes, slot_bytes - rounding);
    room_ = spread_ ? std::min(slot_bytes, div_up(parts.bytes, steps_) + rounding) : slot_bytes;
  }
  std::size_t steps() const { return steps_; }
  std::size_t room() const { return room_; }
  Piece piece(std::size_t step, int rank) const {
    const Part part = parts_[rank];
    if (!spread_) {
      const Part chunk = chunks_[step];
      const std::size_t end = chunk.offset + chunk.bytes;
      const std::size_t from = std::clamp(part.offset, chunk.offset, end);
      const std::size_t to = std::clamp(part.offset + part.bytes, chunk.offset, end);
      return {from, to - from, from - chunk.offset};
    }
    const std::size_t size = round_up(div_up(part.bytes, steps_), unit_);
    const std::size_t done = std::min(part.bytes, step * size);
    const std::size_t place = part.offset / steps_ / unit_ + static_cast<std::size_t>(rank);
    return {part.offset + done, std::min(size, part.bytes - done), place * unit_};
  }

 private:
  Parts parts_;
  std::size_t unit_;
  Chunks chunks_;
  std::size_t steps_, room_;
  bool spread_;
};

// Here the parts are given, and each goes through a slot of its own.
class OwnSlots {
 public:
  OwnSlots(const Parts& parts, std::size_t slot_bytes)
      : parts_(parts),
        slot_bytes_(slot_bytes),
        room_(std::min(parts.largest(), slot_bytes)),
        steps_(std::max<std::size_t>(1, div_up(parts.largest(), slot_bytes))) {}
  std::size_t steps() const { return steps_; }
  std::size_t room() const { return room_; }
  Piece piece(std::size_t step, int rank) const {
    const Part part = parts_[rank];
    const std::size_t done = std::min(part.bytes, step * slot_bytes_);
    return {part.offset + done, std::min(slot_bytes_, part.bytes - done), 0};
  }

 private:
  Parts parts_;
  std::size_t slot_bytes_, room_, steps_;
};

// Copies a rank's data into its slot. Data with a layout are packed there directly unless they are
// to go past the caches, which few packers can do; then they are packed in pieces that stay in the
// first-level cache. (64 KiB of every second double, broadcast between far cores of a Zen 4, take
// 30 us if packed directly.)
inline void put(ShmGroup& group, std::uint64_t position, const ConstBytes& from, std::byte* to,
                std::size_t bytes) {
  if (from.contiguous()) return group.store(position, to, from.at(), bytes);
  if (!group.stores_better(position, bytes)) return from.copy_to(to, bytes);
  alignas(kCacheLine) std::byte packed[3 << 10];
  for (std::size_t done = 0; done < bytes; done += sizeof packed) {
    const std::size_t some = std::min(sizeof packed, bytes - done);
    (from + done).copy_to(packed, some);
    group.store(position, to + done, packed, some);
  }
}

// Copies into this rank's slot the pieces that the others fold in the step, neighbouring pieces at
// once.
template <class Cut>
void put_for_others(ShmGroup& group, std::uint64_t position, const std::byte* input, const Cut& cut,
                    std::size_t step) {
  std::byte* const slot = group.payload(group.rank(), position);
  Piece run{};
  const auto copy = [&] { group.store(position, slot + run.place, input + run.offset, run.bytes); };
  for (int r = 0; r < group.size(); ++r) {
    if (r == group.rank()) continue;
    const Piece piece = cut.piece(step, r);
    if (piece.offset == run.offset + run.bytes && piece.place == run.place + run.bytes) {
      run.bytes += piece.bytes;
    } else {
      copy();
      run = piece;
    }
  }
  copy();
}

// Folds this rank's piece of a step from all ranks' slots and its own input.
inline void fold_piece(const ShmGroup& group, std::uint64_t position, const ReduceArguments& args,
                       const Piece& piece, std::byte* to) {
  if (piece.bytes == 0) return;
  group.read(position, piece.bytes, [&] {
    fold(args, to, group.fold_order(), piece.bytes / args.element, [&](int r) -> const std::byte* {
      if (r == group.rank()) return args.input + piece.offset;
      return group.payload(r, position) + piece.place;
    });
  });
}

// Copies the others' pieces of a step out of their slots, the next rank's first, so that no two
// ranks read from one at the same time.
template <class Cut>
void take_from_others(const ShmGroup& group, std::uint64_t position, Bytes output, const Cut& cut,
                      std::size_t step) {
  for (int i = 1; i < group.size(); ++i) {
    const int r = (group.rank() + i) % group.size();
    const Piece piece = cut.piece(step, r);
    group.read(position, piece.bytes, [&] {
      (output + piece.offset).copy_from_peer(group.payload(r, position) + piece.place, piece.bytes);
    });
  }
}

}  // namespace sumac
