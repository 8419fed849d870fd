// SPDX-License-Identifier: BSD-3-Clause
#include "levels/multi_leader.h"

#include <cstring>

#include "algorithms/fold.h"
#include "observe/trace.h"

namespace sumac {
namespace {

std::size_t piece_in(std::size_t slot_bytes, int ranks) {
  return slot_bytes / static_cast<std::size_t>(ranks) / kCacheLine * kCacheLine;
}

// 0 where nothing is traced.
std::uint64_t begun() { return trace::on() ? trace::now_ns() : 0; }

void record(const MultiLeader& work, int stage, std::size_t chunk, std::uint64_t begun) {
  static const LevelGroup between = [] {
    LevelGroup group;
    std::strcpy(group.name, "top");
    return group;
  }();
  if (begun) record_piece(work.stages[stage], stage == 1 ? between : *work.node, chunk, begun);
}

void put_pieces(const MultiLeader& work, std::uint64_t position, std::size_t step) {
  const ShmGroup& group = work.node->up;
  std::byte* slot = group.payload(group.rank(), position, group.slot_bytes());
  for (int r = 0; r < group.size(); ++r) {
    if (r == group.rank()) continue;
    const Part piece = work.piece_of(r, step);
    std::memcpy(slot + static_cast<std::size_t>(r) * work.piece(), work.args->input + piece.offset,
                piece.bytes);
  }
}

void fold_own_piece(const MultiLeader& work, std::uint64_t position, std::size_t step) {
  const ShmGroup& group = work.node->up;
  const Part piece = work.piece_of(group.rank(), step);
  if (piece.bytes == 0) return;
  const std::size_t place = static_cast<std::size_t>(group.rank()) * work.piece();
  fold(work.args->kernel, work.args->output + piece.offset, group.size(),
       piece.bytes / work.args->element, work.args->element, [&](int r) -> const std::byte* {
         if (r == group.rank()) return work.args->input + piece.offset;
         return group.payload(r, position, group.slot_bytes()) + place;
       });
}

}  // namespace

void MultiLeader::begin() {
  folded.begin(1);
  exchanged.begin(stages[1].width);
}

std::size_t MultiLeader::piece() const { return piece_in(node->up.slot_bytes(), node->size); }

std::size_t MultiLeader::steps() const { return div_up(part(0).bytes, piece()); }

Part MultiLeader::part(int rank) const { return part_of(args->bytes(), node->size, rank); }

Part MultiLeader::piece_of(int rank, std::size_t step) const {
  const Part whole = part(rank);
  const std::size_t offset = std::min(whole.bytes, step * piece());
  return {whole.offset + offset, std::min(piece(), whole.bytes - offset)};
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
  const std::uint64_t first = group.take(steps);
  for (std::size_t step = 0; step <= steps; ++step) {
    if (step < steps) {
      co_await strand.until(group.slot_free(first + step));
      put_pieces(work, first + step, step);
      group.publish_in(first + step);
    }
    if (step == 0) continue;
    co_await strand.until(group.others_in(first + step - 1));
    const std::uint64_t begin = begun();
    fold_own_piece(work, first + step - 1, step - 1);
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
    co_await strand.until(work.folded.done(div_up(part.offset + part.bytes, work.piece()) - 1));
    CallArguments args{*work.args, {}};
    ReduceArguments& reduction = args.reduction;
    reduction.output += own.offset + part.offset;
    reduction.input = reduction.output;
    reduction.count = part.bytes / reduction.element;
    const std::uint64_t begin = begun();
    co_await work.exchange(strand, work.groups[static_cast<std::size_t>(which)], args);
    record(work, 1, c, begin);
    work.exchanged.note(c);
  }
}

Task gather(Strand& strand, MultiLeader& work) {
  ShmGroup& group = work.node->down;
  const std::size_t steps = work.steps();
  const std::uint64_t first = group.take(steps);
  const Chunks& chunks = work.chunks;
  for (std::size_t step = 0; step <= steps; ++step) {
    if (step < steps) {
      const Part own = work.piece_of(group.rank(), step);
      if (own.bytes > 0) {
        // All up to the last that has a part of the piece; each strand does every other.
        const std::size_t last = (step * work.piece() + own.bytes - 1) / chunks[0].bytes;
        if (last > 0) co_await strand.until(work.exchanged.done(last - 1));
        co_await strand.until(work.exchanged.done(last));
      }
      co_await strand.until(group.slot_free(first + step));
      group.store(first + step, group.payload(group.rank(), first + step, group.slot_bytes()),
                  work.args->output + own.offset, own.bytes);
      group.publish_in(first + step);
    }
    if (step == 0) continue;
    const std::uint64_t position = first + step - 1;
    co_await strand.until(group.others_in(position));
    const std::uint64_t begin = begun();
    for (int r = 0; r < group.size(); ++r) {
      if (r == group.rank()) continue;
      const Part piece = work.piece_of(r, step - 1);
      std::memcpy(work.args->output + piece.offset,
                  group.payload(r, position, group.slot_bytes()), piece.bytes);
    }
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
