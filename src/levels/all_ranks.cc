// SPDX-License-Identifier: BSD-3-Clause
#include "levels/all_ranks.h"

#include <cstring>

#include "algorithms/message_fold.h"
#include "algorithms/table.h"
#include "observe/trace.h"

namespace sumac {
namespace {

// 0 where nothing is traced.
std::uint64_t begun() { return trace::on() ? trace::now_ns() : 0; }

void record(const AllRanks& work, std::size_t number, std::size_t chunk, std::uint64_t begun) {
  const StagePlan& stage = work.stages[number];
  const bool exchanges = stage.kind == StagePlan::Kind::exchange;
  if (begun) record_piece(stage, exchanges ? *work.across : *work.node, chunk, begun);
}

// One of the three stages on a chunk.
Task run(Strand& strand, const AllRanks& work, std::size_t number, MessageGroup& group,
         CallArguments& args) {
  const StagePlan& stage = work.stages[number];
  args.set_radix(stage.radix);
  return entry_of(stage.algorithm).start_sending(strand, group, args);
}

// A slow rank's part in a chunk that it hands over.
Task hand_over(Strand& strand, const AllRanks& work, MessageGroup& node, std::size_t number) {
  const Part chunk = work.chunks[number];
  const int peer = peer_of_slow(node.rank, work.parts);
  std::uint64_t since = begun();
  node.send(peer, work.args->input + chunk.offset, chunk.bytes);
  co_await strand.until(node.stream->all_sent());
  record(work, 0, number, since);
  since = begun();
  node.receive(peer, work.args->output + chunk.offset, chunk.bytes);
  co_await strand.until(node.stream->all_received());
  record(work, 2, number, since);
}

// A fast rank folds what its slow ranks hand over after its own into the output.
Task take_over(Strand& strand, const AllRanks& work, MessageGroup& node, Part chunk) {
  const ReduceArguments& whole = *work.args;
  std::byte* const output = whole.output + chunk.offset;
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

// The three stages on a chunk. Of one that is `handed` over, the fast ranks alone.
Task share(Strand& strand, const AllRanks& work, MessageGroup& node, MessageGroup& across,
           std::size_t number, bool handed) {
  const ReduceArguments& whole = *work.args;
  const Part chunk = work.chunks[number];
  MessageGroup group = node;
  if (handed) group.size = work.parts;
  const Parts parts = parts_of_chunk(chunk.bytes, whole.element, group.size, work.parts);
  const Part own = parts[node.rank];
  std::byte* const output = whole.output + chunk.offset;
  CallArguments args{whole, {}};
  std::uint64_t since = begun();
  if (handed) co_await take_over(strand, work, node, chunk);
  args.reduce_scatter = {whole, parts};
  args.reduce_scatter.input = handed ? output : whole.input + chunk.offset;
  args.reduce_scatter.output = output + own.offset;
  args.reduce_scatter.count = chunk.bytes / whole.element;
  if (group.size > 1) co_await run(strand, work, 0, group, args);
  record(work, 0, number, since);
  if (own.bytes > 0) {
    since = begun();
    args.reduction.output = output + own.offset;
    args.reduction.input = args.reduction.output;
    args.reduction.count = own.bytes / whole.element;
    co_await run(strand, work, 1, across, args);
    record(work, 1, number, since);
  }
  since = begun();
  args.allgather = {output + own.offset, output, parts};
  if (group.size > 1) co_await run(strand, work, 2, group, args);
  if (handed) co_await give_back(strand, work, node, chunk);
  record(work, 2, number, since);
}

// A whole chunk among all ranks.
Task exchange(Strand& strand, const AllRanks& work, MessageGroup& all, std::size_t number) {
  const Part chunk = work.chunks[number];
  CallArguments args{*work.args, {}};
  args.reduction.input += chunk.offset;
  args.reduction.output += chunk.offset;
  args.reduction.count = chunk.bytes / args.reduction.element;
  const std::uint64_t since = begun();
  co_await run(strand, work, 0, all, args);
  record(work, 0, number, since);
}

}  // namespace

Task all_ranks(Strand& strand, AllRanks& work, std::size_t which) {
  MessageGroup& node = work.groups[2 * which];
  MessageGroup& across = work.groups[2 * which + 1];
  const std::size_t count = work.chunks.count();
  for (std::size_t c = which; c < count; c += work.width()) {
    const bool handed = work.hands && is_handed(c, count);
    if (!work.node) {
      co_await exchange(strand, work, across, c);
    } else if (handed && node.rank >= work.parts) {
      co_await hand_over(strand, work, node, c);
    } else {
      co_await share(strand, work, node, across, c, handed);
    }
  }
}

}  // namespace sumac
