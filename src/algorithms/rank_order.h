// SPDX-License-Identifier: BSD-3-Clause
// The algorithms over messages that fold in rank order share these functions: a rank folds what it
// has of all ranks in one go, from the first to the last. Whatever the placement, the bits are
// those of one serial fold.
#pragma once

#include "algorithms/arguments.h"
#include "algorithms/message_fold.h"

namespace sumac {

// The scratch memory has one row for each rank, and vectors or parts are cut into pieces of at most
// a row.
class RankRows {
 public:
  RankRows(const MessageGroup& group, std::size_t element)
      : memory_(group.scratch), bytes_(bytes_of(group.scratch_bytes, group.size, element)) {}

  // Returns the number of pieces into which so many bytes are cut in such a call.
  static std::size_t pieces_of(const GroupCall& call, std::size_t bytes) {
    const std::size_t scratch = message_scratch(call.ranks, call.bytes);
    return div_up(bytes, bytes_of(scratch, call.ranks, call.element));
  }
  std::byte* operator[](int rank) const {
    return memory_ + static_cast<std::size_t>(rank) * bytes_;
  }
  std::size_t pieces(std::size_t bytes) const { return div_up(bytes, bytes_); }
  // Returns the piece of a part, by its number. Behind the end it has no bytes.
  Part piece(const Part& part, std::size_t number) const {
    const std::size_t first = std::min(part.bytes, number * bytes_);
    return {part.offset + first, std::min(bytes_, part.bytes - first)};
  }

 private:
  // Returns the bytes of a row: whole elements, the same on all ranks.
  static std::size_t bytes_of(std::size_t scratch, int ranks, std::size_t element) {
    return scratch / static_cast<std::size_t>(ranks) / element * element;
  }

  std::byte* memory_;
  std::size_t bytes_;
};

// Computes output[i] = (source(0)[i] op source(1)[i]) op ...; several threads fold large vectors.
template <class SourceOf>
void fold_ranks(const ReduceArguments& args, int ranks, std::byte* output, std::size_t count,
                SourceOf source) {
  if (count == 0) return;
  in_pieces(output, count, args.element, [&](std::size_t first, std::size_t n) {
    const std::size_t offset = first * args.element;
    fold(args.kernel, output + offset, ranks, n, args.element,
         [&](int r) { return source(r) + offset; });
  });
}

// Exchanges data with every other rank, a few ranks at a time, each rank beginning with other ones.
// give(rank) sends, take(rank) receives. All ranks of the group wait at the same places.
template <class Give, class Take>
Task exchange_with_all(Strand& strand, const MessageGroup& group, Give give, Take take) {
  constexpr int kAtATime = 32;
  for (int i = 1; i < group.size; ++i) {
    give((group.rank + i) % group.size);
    take((group.rank - i + group.size) % group.size);
    if (i % kAtATime != 0 && i + 1 < group.size) continue;
    co_await strand.until(group.stream->all_received());
    co_await strand.until(group.stream->all_sent());
  }
}

// Does one piece of every rank's part: each rank gets its own piece from all others, and folds it
// into `to`, which may be where the piece is in the input.
Task fold_own_piece(Strand& strand, MessageGroup& group, const ReduceScatterArguments& args,
                    std::size_t number, std::byte* to);

namespace allgather {
// Does what bruck begins with: all parts go into scratch memory, one behind the other, this rank's
// first.
Task bruck_rows(Strand& strand, MessageGroup& group, const AllgatherArguments& args);
}  // namespace allgather

}  // namespace sumac
