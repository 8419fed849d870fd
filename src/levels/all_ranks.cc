// SPDX-License-Identifier: BSD-3-Clause
#include "levels/all_ranks.h"

#include <cstring>

#include "algorithms/message_fold.h"
#include "algorithms/table.h"
#include "levels/all_ranks_bcast.h"
#include "observe/trace.h"

namespace sumac {

std::uint64_t begin_piece() { return trace::on() ? trace::now_ns() : 0; }

void end_piece(const StagePlan& stage, const LevelGroup& group, std::size_t chunk,
               std::uint64_t begun) {
  if (begun) record_piece(stage, group, chunk, begun);
}

Task run_piece(Strand& strand, const StagePlan& stage, MessageGroup& group,
               const CallArguments& args) {
  return entry_of(stage.algorithm).start_sending(strand, group, args);
}

void AllRanks::take_stages(const StagePlans& plans) {
  scatter = exchange = gather = nullptr;
  for (const StagePlan& plan : plans) {
    const StagePlan*& stage = plan.kind == StagePlan::Kind::scatter  ? scatter
                              : plan.kind == StagePlan::Kind::gather ? gather
                                                                     : exchange;
    stage = &plan;
  }
}

namespace {

// A fast rank folds the data that its slow ranks hand over after its own data, into `output`.
Task take_over(Strand& strand, const AllRanks& work, MessageGroup& node, Part chunk,
               std::byte* output) {
  const ReduceArguments& whole = *work.args;
  const std::byte* own = whole.input + chunk.offset;
  for (int slow = node.rank + work.parts; slow < node.size; slow += work.parts) {
    node.receive(slow, node.scratch, chunk.bytes);
    co_await strand.until(node.stream->all_received());
    fold_two(whole, own, node.scratch, output, chunk.bytes / whole.element);
    own = output;
  }
  if (own != output && chunk.bytes > 0) std::memcpy(output, own, chunk.bytes);
}

Task give_back(Strand& strand, const AllRanks& work, MessageGroup& node, Part chunk) {
  for (int slow = node.rank + work.parts; slow < node.size; slow += work.parts) {
    node.send(slow, work.args->output + chunk.offset, chunk.bytes);
  }
  co_await strand.until(node.stream->all_sent());
}

// A chunk on its way through the stages.
struct Shared {
  std::size_t number;
  bool handed;         // only the fast ranks work on it
  Part chunk, own;     // own: this rank's part of it
  Parts parts;         // parts of the chunk
  std::byte* output;   // room for the chunk; null if this rank has none
  std::byte* reduced;  // this rank's part is reduced here
  MessageGroup group;  // the node's ranks that work on it
};

// `kept` is where a rank without an output reduces.
Shared shared_of(const AllRanks& work, const MessageGroup& node, std::size_t number, bool handed,
                 std::byte* kept) {
  const ReduceArguments& whole = *work.args;
  const Part chunk = work.chunks[number];
  MessageGroup group = node;
  if (handed) group.size = work.parts;
  const Parts parts = parts_of_chunk(chunk.bytes, whole.element, group.size, work.parts);
  const Part own = node.rank < group.size ? parts[node.rank] : Part{0, 0};
  std::byte* output = whole.output ? whole.output + chunk.offset : nullptr;
  if (!output && work.hands) output = kept;
  std::byte* const reduced = output ? output + own.offset : kept;
  return {number, handed, chunk, own, parts, output, reduced, group};
}

Task scatter(Strand& strand, const AllRanks& work, MessageGroup& node, Shared& shared) {
  const ReduceArguments& whole = *work.args;
  const std::uint64_t since = begin_piece();
  if (shared.handed) co_await take_over(strand, work, node, shared.chunk, shared.output);
  ReduceScatterArguments reduction{whole, shared.parts};
  reduction.input = shared.handed ? shared.output : whole.input + shared.chunk.offset;
  reduction.output = shared.reduced;
  reduction.count = shared.chunk.bytes / whole.element;
  reduction.radix = work.scatter->radix;
  const CallArguments args = reduction;
  if (shared.group.size > 1) co_await run_piece(strand, *work.scatter, shared.group, args);
  end_piece(*work.scatter, *work.node, shared.number, since);
}

// The result is on the root's node, or on all nodes.
Task exchange_part(Strand& strand, const AllRanks& work, MessageGroup& across,
                   const Shared& shared) {
  const std::uint64_t since = begin_piece();
  ReduceArguments reduction = *work.args;
  reduction.input = shared.reduced;
  reduction.output = work.gather ? shared.reduced : nullptr;
  reduction.count = shared.own.bytes / work.args->element;
  reduction.root = work.exchange->root;
  reduction.radix = work.exchange->radix;
  const CallArguments args = reduction;
  co_await run_piece(strand, *work.exchange, across, args);
  end_piece(*work.exchange, *work.across, shared.number, since);
}

// The root gets the parts from the others of its node.
Task collect(Strand& strand, const AllRanks& work, const MessageGroup& node, const Shared& shared) {
  const int root = work.gather->root;
  if (node.rank == root) {
    for (int rank = 0; rank < work.parts; ++rank) {
      const Part part = shared.parts[rank];
      if (rank != root) node.receive(rank, shared.output + part.offset, part.bytes);
    }
    co_await strand.until(node.stream->all_received());
  } else {
    node.send(root, shared.reduced, shared.own.bytes);
    co_await strand.until(node.stream->all_sent());
  }
}

Task gather(Strand& strand, const AllRanks& work, MessageGroup& node, Shared& shared) {
  const std::uint64_t since = begin_piece();
  if (work.to_root) {
    co_await collect(strand, work, node, shared);
  } else {
    const CallArguments args =
        AllgatherArguments{shared.reduced, shared.output, shared.parts, work.gather->radix};
    if (shared.group.size > 1) co_await run_piece(strand, *work.gather, shared.group, args);
    if (shared.handed) co_await give_back(strand, work, node, shared.chunk);
  }
  end_piece(*work.gather, *work.node, shared.number, since);
}

// Does a slow rank's work on a chunk that it hands over.
Task hand_over(Strand& strand, const AllRanks& work, MessageGroup& node, const Shared& shared) {
  const int peer = peer_of_slow(node.rank, work.parts);
  std::uint64_t since = begin_piece();
  node.send(peer, work.args->input + shared.chunk.offset, shared.chunk.bytes);
  co_await strand.until(node.stream->all_sent());
  end_piece(*work.scatter, *work.node, shared.number, since);
  if (!work.gather) co_return;
  since = begin_piece();
  if (work.to_root) {
    co_await collect(strand, work, node, shared);
  } else {
    node.receive(peer, shared.output, shared.chunk.bytes);
    co_await strand.until(node.stream->all_received());
  }
  end_piece(*work.gather, *work.node, shared.number, since);
}

CallArguments arguments_of(const AllRanks& work, Part chunk) {
  const StagePlan& stage = *work.exchange;
  if (work.bcast) {
    return BcastArguments{work.bcast->buffer + chunk.offset, chunk.bytes, stage.root, stage.radix};
  }
  ReduceArguments reduction = *work.args;
  reduction.input += chunk.offset;
  if (reduction.output) reduction.output += chunk.offset;
  reduction.count = chunk.bytes / reduction.element;
  reduction.root = stage.root;
  reduction.radix = stage.radix;
  return reduction;
}

// Does a whole chunk among all ranks.
Task flat(Strand& strand, const AllRanks& work, MessageGroup& all, std::size_t number) {
  const CallArguments args = arguments_of(work, work.chunks[number]);
  const std::uint64_t since = begin_piece();
  co_await run_piece(strand, *work.exchange, all, args);
  end_piece(*work.exchange, *work.across, number, since);
}

}  // namespace

Task all_ranks(Strand& strand, AllRanks& work, std::size_t which) {
  MessageGroup& node = work.groups[2 * which];
  MessageGroup& across = work.groups[2 * which + 1];
  const std::size_t count = work.chunks.count();
  for (std::size_t c = which; c < count; c += work.width()) {
    if (!work.node) {
      co_await flat(strand, work, across, c);
      continue;
    }
    if (work.bcast) {
      co_await bcast_chunk(strand, work, which, c);
      continue;
    }
    const bool handed = work.hands && is_handed(c, count);
    Shared shared = shared_of(work, node, c, handed, work.kept + which * work.kept_bytes);
    if (handed && node.rank >= work.parts) {
      co_await hand_over(strand, work, node, shared);
      continue;
    }
    co_await scatter(strand, work, node, shared);
    if (shared.own.bytes > 0) co_await exchange_part(strand, work, across, shared);
    if (work.gather) co_await gather(strand, work, node, shared);
  }
}

}  // namespace sumac
