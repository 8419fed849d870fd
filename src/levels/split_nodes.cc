// SPDX-License-Identifier: BSD-3-Clause
#include "levels/split_nodes.h"

#include "algorithms/table.h"

namespace sumac {
namespace {

Task start(const StagePlan& stage, Strand& strand, MessageGroup& group, CallArguments& args) {
  args.set_radix(stage.radix);
  return entry_of(stage.algorithm).start_sending(strand, group, args);
}

}  // namespace

Task split_nodes(Strand& strand, SplitNodes& work, int which) {
  const ReduceArguments& whole = *work.args;
  MessageGroup& node = work.groups[static_cast<std::size_t>(2 * which)];
  MessageGroup& peers = work.groups[static_cast<std::size_t>(2 * which) + 1];
  const auto width = static_cast<std::size_t>(work.width());
  for (auto c = static_cast<std::size_t>(which); c < work.chunks.count(); c += width) {
    const Part chunk = work.chunks[c];
    const Parts parts{chunk.bytes, node.size, std::max(kCacheLine, whole.element)};
    const Part own = parts[node.rank];
    std::byte* const output = whole.output + chunk.offset;
    CallArguments args{whole, {}};
    args.reduce_scatter = {whole, parts};
    args.reduce_scatter.input += chunk.offset;
    args.reduce_scatter.output = output + own.offset;
    args.reduce_scatter.count = chunk.bytes / whole.element;
    co_await start(work.stages[0], strand, node, args);
    if (own.bytes > 0) {
      args.reduction.output = output + own.offset;
      args.reduction.input = args.reduction.output;
      args.reduction.count = own.bytes / whole.element;
      co_await start(work.stages[1], strand, peers, args);
    }
    args.allgather = {output + own.offset, output, parts};
    co_await start(work.stages[2], strand, node, args);
  }
}

}  // namespace sumac
