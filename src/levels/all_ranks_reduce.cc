// SPDX-License-Identifier: BSD-3-Clause
// The stages of all_ranks in which a reduction's chunk goes through the ranks of a node.
#include <cstring>

#include "algorithms/message_fold.h"
#include "levels/all_ranks.h"
#include "levels/stage_works.h"

namespace sumac {
namespace {

// A chunk on its way through the stages, as a rank of the node sees it.
struct SharedChunk {
  bool handed;        // slow ranks hand it over, and only the fast ranks work on it
  bool hands;         // this rank is a slow one that does so
  Part chunk;         // its place in the vector
  Parts parts;        // parts of the chunk
  Part own;           // this rank's part of it
  std::byte* output;  // room for the chunk; this rank's part is reduced where it belongs
  int ranks;          // ranks of the node that work on it

  std::byte* reduced() const { return output + own.offset; }
};

SharedChunk shared_of(const Operation& operation, const LevelGroup& node, std::size_t number) {
  const CallPlan& plan = *operation.plan;
  const Part chunk = operation.chunks[number];
  const bool handed = plan.hands && is_handed(number, operation.count());
  const int ranks = handed ? plan.parts : node.size;
  const Parts parts = parts_of_chunk(chunk.bytes, operation.reduction.element, ranks, plan.parts);
  const bool works = node.rank < ranks;
  const Part own = works ? parts[node.rank] : Part{0, 0};
  return {handed, !works, chunk, parts, own, operation.result(number), ranks};
}

// A fast rank folds the data that its slow ranks hand over after its own data, into `output`.
Task take_over(Strand& strand, const Operation& operation, const MessageGroup& node,
               const SharedChunk& shared) {
  const ReduceArguments& whole = operation.reduction;
  const int parts = operation.plan->parts;
  const Part chunk = shared.chunk;
  const std::byte* own = whole.input + chunk.offset;
  for (int slow = node.rank + parts; slow < node.size; slow += parts) {
    node.receive(slow, node.scratch, chunk.bytes);
    co_await strand.until(node.stream->all_received());
    fold_two(whole, own, node.scratch, shared.output, chunk.bytes / whole.element);
    own = shared.output;
  }
  if (own != shared.output && chunk.bytes > 0) std::memcpy(shared.output, own, chunk.bytes);
}

Task give_back(Strand& strand, const Operation& operation, const MessageGroup& node,
               const SharedChunk& shared) {
  const int parts = operation.plan->parts;
  for (int slow = node.rank + parts; slow < node.size; slow += parts) {
    node.send(slow, shared.output, shared.chunk.bytes);
  }
  co_await strand.until(node.stream->all_sent());
}

// Runs the stage's algorithm among the ranks that work on the chunk.
Task run_among(Strand& strand, Stage& stage, Worker& worker, int ranks) {
  if (ranks < 2) co_return;
  const int all = std::exchange(worker.messages.size, ranks);
  co_await start_on_level(strand, stage, worker);
  worker.messages.size = all;
}

Task scatter_parts(Strand& strand, Operation& operation, Stage& stage, Worker& worker,
                   std::size_t number) {
  const ReduceArguments& whole = operation.reduction;
  const MessageGroup& node = worker.messages;
  const SharedChunk shared = shared_of(operation, *stage.group, number);
  if (shared.hands) {
    node.send(peer_of_slow(node.rank, operation.plan->parts), whole.input + shared.chunk.offset,
              shared.chunk.bytes);
    co_await strand.until(node.stream->all_sent());
    co_return;
  }
  if (shared.handed) co_await take_over(strand, operation, node, shared);
  ReduceScatterArguments reduction{whole, shared.parts};
  reduction.input = shared.handed ? shared.output : whole.input + shared.chunk.offset;
  reduction.output = shared.reduced();
  reduction.count = shared.chunk.bytes / whole.element;
  reduction.radix = stage.radix;
  worker.args = reduction;
  co_await run_among(strand, stage, worker, shared.ranks);
}

// The result is on the root's node, or on all nodes.
Task exchange(Strand& strand, Operation& operation, Stage& stage, Worker& worker,
              std::size_t number) {
  const SharedChunk shared = shared_of(operation, *operation.stages[0].group, number);
  worker.idle = shared.own.bytes == 0;
  if (worker.idle) co_return;
  const bool stays = operation.num_stages == 3;  // the node gathers it
  ReduceArguments reduction = operation.reduction;
  reduction.input = shared.reduced();
  reduction.output = stays ? shared.reduced() : nullptr;
  reduction.count = shared.own.bytes / reduction.element;
  reduction.root = stage.root;
  reduction.radix = stage.radix;
  worker.args = reduction;
  co_await start_on_level(strand, stage, worker);
}

Task gather_parts(Strand& strand, Operation& operation, Stage& stage, Worker& worker,
                  std::size_t number) {
  const MessageGroup& node = worker.messages;
  const SharedChunk shared = shared_of(operation, *stage.group, number);
  if (shared.hands) {
    node.receive(peer_of_slow(node.rank, operation.plan->parts), shared.output, shared.chunk.bytes);
    co_await strand.until(node.stream->all_received());
    co_return;
  }
  worker.args = AllgatherArguments{shared.reduced(), shared.output, shared.parts, stage.radix};
  co_await run_among(strand, stage, worker, shared.ranks);
  if (shared.handed) co_await give_back(strand, operation, node, shared);
}

// The root gets the parts from the others of its node.
Task collect(Strand& strand, Operation& operation, Stage& stage, Worker& worker,
             std::size_t number) {
  const MessageGroup& node = worker.messages;
  const SharedChunk shared = shared_of(operation, *stage.group, number);
  if (node.rank == stage.root) {
    for (int rank = 0; rank < operation.plan->parts; ++rank) {
      const Part part = shared.parts[rank];
      if (rank != stage.root) node.receive(rank, shared.output + part.offset, part.bytes);
    }
    co_await strand.until(node.stream->all_received());
  } else {
    node.send(stage.root, shared.reduced(), shared.own.bytes);
    co_await strand.until(node.stream->all_sent());
  }
}

}  // namespace

const AllRanksWorks kReduceToAll{
    {scatter_parts, price_in_node}, {exchange, price_across}, {gather_parts, price_in_node}};
const AllRanksWorks kReduceToRoot{
    {scatter_parts, price_in_node}, {exchange, price_across}, {collect, price_at_root}};

}  // namespace sumac
