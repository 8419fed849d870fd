// SPDX-License-Identifier: BSD-3-Clause
#include "levels/all_ranks_bcast.h"

namespace sumac {
namespace {

// The ranks of the root's node get their parts.
Task scatter(Strand& strand, const AllRanks& work, MessageGroup& node, const Parts& parts,
             const Bytes& data) {
  const int root = work.scatter->root;
  if (node.rank == root) {
    for (int rank = 0; rank < work.parts; ++rank) {
      const Part part = parts[rank];
      if (rank == root) continue;
      node.send(rank, (data + part.offset).packed(node.scratch + part.offset, part.bytes),
                part.bytes);
    }
    co_await strand.until(node.stream->all_sent());
  } else if (const Part own = parts[node.rank]; own.bytes > 0) {
    const Bytes place = data + own.offset;
    std::byte* const to = place.contiguous_or(node.scratch);
    node.receive(root, to, own.bytes);
    co_await strand.until(node.stream->all_received());
    place.take(to, own.bytes);
  }
}

}  // namespace

Task bcast_chunk(Strand& strand, AllRanks& work, std::size_t which, std::size_t chunk) {
  MessageGroup& node = work.groups[2 * which];
  MessageGroup& across = work.groups[2 * which + 1];
  const Part whole = work.chunks[chunk];
  const Parts parts = parts_of_chunk(whole.bytes, 1, node.size, work.parts);
  const Part own = parts[node.rank];
  const Bytes data = work.bcast->buffer + whole.offset;
  if (work.scatter) {
    const std::uint64_t since = begin_piece();
    co_await scatter(strand, work, node, parts, data);
    end_piece(*work.scatter, *work.node, chunk, since);
  }
  if (own.bytes > 0) {
    const std::uint64_t since = begin_piece();
    const StagePlan& stage = *work.exchange;
    const CallArguments args =
        BcastArguments{data + own.offset, own.bytes, stage.root, stage.radix};
    co_await run_piece(strand, *work.exchange, across, args);
    end_piece(*work.exchange, *work.across, chunk, since);
  }
  const bool is_root = work.scatter && node.rank == work.scatter->root;
  const Bytes gathered = is_root ? Bytes(work.kept + which * work.kept_bytes) : data;
  const CallArguments args =
      AllgatherArguments{data + own.offset, gathered, parts, work.gather->radix};
  const std::uint64_t since = begin_piece();
  co_await run_piece(strand, *work.gather, node, args);
  end_piece(*work.gather, *work.node, chunk, since);
}

}  // namespace sumac
