// SPDX-License-Identifier: BSD-3-Clause
// The stages of all_ranks in which a broadcast's chunk goes through the ranks of a node.
#include "levels/all_ranks.h"
#include "levels/stage_works.h"

namespace sumac {
namespace {

// A chunk on its way through the stages, as a rank of the node sees it.
struct SpreadChunk {
  Bytes data;   // the chunk
  Parts parts;  // parts of it
  Part own;     // this rank's part

  SpreadChunk(const Operation& operation, const LevelGroup& node, std::size_t number)
      : data(operation.bcast.buffer + operation.chunks[number].offset),
        parts(parts_of_chunk(operation.chunks[number].bytes, 1, node.size, operation.plan->parts)),
        own(parts[node.rank]) {}
};

// The ranks of the root's node get their parts.
Task scatter_parts(Strand& strand, Operation& operation, Stage& stage, Worker& worker,
                   std::size_t number) {
  const MessageGroup& node = worker.messages;
  const SpreadChunk shared(operation, *stage.group, number);
  const Bytes& data = shared.data;
  if (node.rank == stage.root) {
    for (int rank = 0; rank < operation.plan->parts; ++rank) {
      const Part part = shared.parts[rank];
      if (rank == stage.root) continue;
      node.send(rank, (data + part.offset).packed(node.scratch + part.offset, part.bytes),
                part.bytes);
    }
    co_await strand.until(node.stream->all_sent());
  } else if (shared.own.bytes > 0) {
    const Bytes place = data + shared.own.offset;
    std::byte* const to = place.contiguous_or(node.scratch);
    node.receive(stage.root, to, shared.own.bytes);
    co_await strand.until(node.stream->all_received());
    place.take(to, shared.own.bytes);
  }
}

// Returns the stage of the node that follows the exchange.
const Stage& gather_of(const Operation& operation) {
  return operation.stages[operation.num_stages - 1];
}

Task exchange(Strand& strand, Operation& operation, Stage& stage, Worker& worker,
              std::size_t number) {
  const SpreadChunk shared(operation, *gather_of(operation).group, number);
  worker.idle = shared.own.bytes == 0;
  if (worker.idle) co_return;
  worker.args =
      BcastArguments{shared.data + shared.own.offset, shared.own.bytes, stage.root, stage.radix};
  co_await start_on_level(strand, stage, worker);
}

// Nothing is written to the root's buffer, so it gathers into a chunk that it keeps.
Task gather_parts(Strand& strand, Operation& operation, Stage& stage, Worker& worker,
                  std::size_t number) {
  const SpreadChunk shared(operation, *stage.group, number);
  const Stage& first = operation.stages[0];
  const bool is_root = first.kind == StagePlan::Kind::scatter && stage.group->rank == first.root;
  const Bytes gathered = is_root ? Bytes(operation.kept_chunk(number)) : shared.data;
  worker.args =
      AllgatherArguments{shared.data + shared.own.offset, gathered, shared.parts, stage.radix};
  return start_on_level(strand, stage, worker);
}

}  // namespace

const AllRanksWorks kBcastFromRoot{
    {scatter_parts, price_at_root}, {exchange, price_across}, {gather_parts, price_in_node}};

}  // namespace sumac
