// SPDX-License-Identifier: BSD-3-Clause
#include "levels/all_ranks.h"

#include "algorithms/table.h"
#include "observe/trace.h"

namespace sumac {
namespace {

// One of the three stages on a chunk.
Task run(Strand& strand, const AllRanks& work, std::size_t number, std::size_t chunk,
         MessageGroup& group, CallArguments& args) {
  const StagePlan& stage = work.stages[number];
  args.set_radix(stage.radix);
  const std::uint64_t begun = trace::on() ? trace::now_ns() : 0;
  co_await entry_of(stage.algorithm).start_sending(strand, group, args);
  const bool exchanges = stage.kind == StagePlan::Kind::exchange;
  if (begun) record_piece(stage, exchanges ? *work.across : *work.node, chunk, begun);
}

}  // namespace

Task all_ranks(Strand& strand, AllRanks& work, std::size_t which) {
  const ReduceArguments& whole = *work.args;
  const bool flat = !work.node;
  MessageGroup& node = work.groups[2 * which];
  MessageGroup& across = work.groups[2 * which + 1];
  for (std::size_t c = which; c < work.chunks.count(); c += work.width()) {
    const Part chunk = work.chunks[c];
    const Parts parts = parts_of_chunk(chunk.bytes, whole.element, node.size, work.parts);
    const Part own = parts[node.rank];
    std::byte* const output = whole.output + chunk.offset;
    CallArguments args{whole, {}};
    if (flat) {
      args.reduction.input += chunk.offset;
      args.reduction.output = output;
      args.reduction.count = chunk.bytes / whole.element;
      co_await run(strand, work, 0, c, across, args);
      continue;
    }
    args.reduce_scatter = {whole, parts};
    args.reduce_scatter.input += chunk.offset;
    args.reduce_scatter.output = output + own.offset;
    args.reduce_scatter.count = chunk.bytes / whole.element;
    co_await run(strand, work, 0, c, node, args);
    if (own.bytes > 0) {
      args.reduction.output = output + own.offset;
      args.reduction.input = args.reduction.output;
      args.reduction.count = own.bytes / whole.element;
      co_await run(strand, work, 1, c, across, args);
    }
    args.allgather = {output + own.offset, output, parts};
    co_await run(strand, work, 2, c, node, args);
  }
}

}  // namespace sumac
