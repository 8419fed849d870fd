// SPDX-License-Identifier: BSD-3-Clause
#include "levels/multi_leader.h"

#include "algorithms/slots.h"
#include "observe/trace.h"

namespace sumac {
namespace {

std::size_t piece_in(std::size_t slot_bytes, int ranks) {
  return slot_bytes / static_cast<std::size_t>(ranks) / kCacheLine * kCacheLine;
}

// Returns when a piece begins, or 0 if nothing is traced.
std::uint64_t begun() { return trace::on() ? trace::now_ns() : 0; }

void record(const MultiLeader& work, int stage, std::size_t chunk, std::uint64_t begun) {
  if (begun) record_piece(work.stages[stage], stage == 1 ? *work.across : *work.node, chunk, begun);
}

}  // namespace

void MultiLeader::begin() {
  folded.begin(1);
  exchanged.begin(stages[1].width);
}

std::size_t MultiLeader::most() const { return piece_in(room(), node->size); }

std::size_t MultiLeader::steps() const { return div_up(part(0).bytes, most()); }

Part MultiLeader::part(int rank) const { return part_of(args->bytes(), node->size, rank); }

Piece MultiLeader::piece(std::size_t step, int rank) const {
  const Part whole = part(rank);
  const std::size_t offset = std::min(whole.bytes, step * most());
  return {whole.offset + offset, std::min(most(), whole.bytes - offset),
          static_cast<std::size_t>(rank) * most()};
}

Chunks part_in_chunks(std::size_t bytes, const LevelGroup& node, std::size_t most) {
  return {part_of(bytes, node.size, node.rank).bytes, std::max(most, kCacheLine), kCacheLine};
}

void list_multi_leader(const LevelGroup& node, Algorithm algorithm, StagePlans& stages) {
  using Kind = StagePlan::Kind;
  stages.clear();
  for (const Kind kind : {Kind::scatter, Kind::exchange, Kind::gather}) {
    StagePlan stage;
    stage.kind = kind;
    stage.first = kind == Kind::scatter;
    stage.after = static_cast<int>(stages.size()) - 1;
    stage.level = kind == Kind::exchange ? 1 : 0;
    stage.root = node.leader;
    stage.algorithm = algorithm;
    stages.push_back(stage);
  }
}

Task scatter(Strand& strand, MultiLeader& work) {
  ShmGroup& group = work.node->up;
  const std::size_t steps = work.steps();
  const std::uint64_t first = group.take(steps, {.room = work.room()});
  for (std::size_t step = 0; step <= steps; ++step) {
    if (step < steps) {
      co_await strand.until(group.slot_free(first + step));
      put_for_others(group, first + step, work.args->input, work, step);
      group.publish_in(first + step);
    }
    if (step == 0) continue;
    co_await strand.until(group.others_in(first + step - 1));
    const std::uint64_t begin = begun();
    const Piece own = work.piece(step - 1, group.rank());
    fold_piece(group, first + step - 1, *work.args, own, work.args->output + own.offset);
    group.finish(first + step - 1);
    record(work, 0, step - 1, begin);
    work.folded.note(step - 1);
  }
}

Task exchange(Strand& strand, MultiLeader& work, int which) {
  const Part own = work.part(work.node->rank);
  const Chunks& chunks = work.chunks;
  const auto width = static_cast<std::size_t>(work.exchanged.width());
  for (auto c = static_cast<std::size_t>(which); c < chunks.count() && own.bytes > 0; c += width) {
    const Part part = chunks[c];
    co_await strand.until(work.folded.done(div_up(part.offset + part.bytes, work.most()) - 1));
    ReduceArguments reduction = *work.args;
    reduction.radix = work.stages[1].radix;
    reduction.output += own.offset + part.offset;
    reduction.input = reduction.output;
    reduction.count = part.bytes / reduction.element;
    const CallArguments args = reduction;
    const std::uint64_t begin = begun();
    co_await work.exchange(strand, work.groups[static_cast<std::size_t>(which)], args);
    record(work, 1, c, begin);
    work.exchanged.note(c);
  }
}

Task gather(Strand& strand, MultiLeader& work) {
  ShmGroup& group = work.node->down;
  const std::size_t steps = work.steps();
  const std::uint64_t first = group.take(steps, {.room = work.room()});
  const Chunks& chunks = work.chunks;
  for (std::size_t step = 0; step <= steps; ++step) {
    if (step < steps) {
      const Piece own = work.piece(step, group.rank());
      if (own.bytes > 0) {
        // It waits for all chunks up to the last that has data of the piece. Each strand does every
        // other chunk.
        const std::size_t last = (step * work.most() + own.bytes - 1) / chunks[0].bytes;
        if (last > 0) co_await strand.until(work.exchanged.done(last - 1));
        co_await strand.until(work.exchanged.done(last));
      }
      co_await strand.until(group.slot_free(first + step));
      group.store(first + step, group.payload(group.rank(), first + step) + own.place,
                  work.args->output + own.offset, own.bytes);
      group.publish_in(first + step);
    }
    if (step == 0) continue;
    const std::uint64_t position = first + step - 1;
    co_await strand.until(group.others_in(position));
    const std::uint64_t begin = begun();
    take_from_others(group, position, work.args->output, work, step - 1);
    group.finish(position);
    record(work, 2, step - 1, begin);
  }
}

Cost scatter_cost(const GroupCall& call) {
  const std::size_t piece = piece_in(Layout{}.slot_bytes, call.ranks);
  return {true, div_up(call.chunk, piece) + 1, 2 * others_parts(call)};
}

Cost gather_cost(const GroupCall& call) {
  const std::size_t piece = piece_in(Layout{}.slot_bytes, call.ranks);
  return {true, div_up(call.chunk, piece) + 1, call.bytes};
}

}  // namespace sumac
