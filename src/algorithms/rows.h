// SPDX-License-Identifier: BSD-3-Clause
// The row of a rank has the blocks that it gives the other ranks, one behind the other, beginning
// with the block of the rank after it. Ranks that go through their rows at the same pace read at
// the same time, each from another one. Its own block is not in the row.
#pragma once

#include "algorithms/arguments.h"
#include "transport/shm/group.h"

namespace sumac {

// Return the ranks `distance` places after and before one of `ranks`, for 0 <= distance < ranks.
inline int rank_after(int rank, int distance, int ranks) {
  return rank + distance < ranks ? rank + distance : rank + distance - ranks;
}
inline int rank_before(int rank, int distance, int ranks) {
  return rank_after(rank, distance == 0 ? 0 : ranks - distance, ranks);
}

inline std::size_t row_bytes(const AlltoallArguments& args, int rank) {
  return args.sent.bytes - args.sent[rank].bytes;
}

// Goes through a rank's row once, in order.
class Row {
 public:
  Row(const AlltoallArguments& args, int rank) : args_(args), rank_(rank) {}

  // Calls copy(from, place, bytes) for the next `bytes` bytes of the row, which must be left; bytes
  // that adjoin in the input come in one call. `place` counts from the first of these bytes.
  template <class Copy>
  void take(std::size_t bytes, Copy copy) {
    Part run{};  // bytes that adjoin in the input
    std::size_t done = 0;
    while (done + run.bytes < bytes) {
      const Part block = args_.sent[rank_after(rank_, distance_, args_.sent.ranks)];
      const std::size_t some = std::min(block.bytes - taken_, bytes - done - run.bytes);
      const std::size_t from = block.offset + taken_;
      if (from != run.offset + run.bytes) {
        if (run.bytes > 0) copy(args_.input + run.offset, done, run.bytes);
        done += run.bytes;
        run = {from, 0};
      }
      run.bytes += some;
      taken_ += some;
      if (taken_ < block.bytes) continue;
      taken_ = 0;
      ++distance_;
    }
    if (run.bytes > 0) copy(args_.input + run.offset, done, run.bytes);
  }

 private:
  const AlltoallArguments& args_;
  int rank_;
  int distance_ = 1;       // distance of the next block
  std::size_t taken_ = 0;  // bytes of the next block that were taken
};

// Copies the bytes of a block that a rank's slot has: the slot has `chunk` of the rank's row.
inline void take_block(const ShmGroup& group, std::uint64_t position, int from, Part chunk,
                       Part block, const Bytes& to) {
  const std::size_t begin = std::max(chunk.offset, block.offset);
  const std::size_t end = std::min(chunk.offset + chunk.bytes, block.offset + block.bytes);
  if (begin >= end) return;
  group.read(position, end - begin, [&] {
    (to + (begin - block.offset))
        .copy_from_peer(group.payload(from, position) + (begin - chunk.offset), end - begin);
  });
}

}  // namespace sumac
