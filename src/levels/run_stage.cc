// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/table.h"
#include "levels/parts_stage.h"
#include "levels/passive.h"
#include "levels/stage.h"
#include "observe/trace.h"

namespace sumac {
namespace {

ReduceArguments reduction_of(const Operation& operation, const Stage& stage, std::size_t chunk) {
  const Part part = operation.chunks[chunk];
  ReduceArguments args = operation.reduction;
  args.count = part.bytes / args.element;
  args.root = stage.root;
  args.radix = stage.radix;
  args.input = stage.first ? operation.reduction.input + part.offset : operation.result(chunk);
  const bool gets_result = stage.kind == Stage::Kind::exchange || stage.group->rank == stage.root;
  args.output = gets_result ? operation.result(chunk) : nullptr;
  return args;
}

BcastArguments bcast_of(const Operation& operation, const Stage& stage, std::size_t chunk) {
  const Part part = operation.chunks[chunk];
  return {operation.bcast.buffer + part.offset, part.bytes, stage.root, stage.radix};
}

CallArguments arguments_of(const Operation& operation, const Stage& stage, std::size_t chunk) {
  if (stage.kind == Stage::Kind::bcast) return bcast_of(operation, stage, chunk);
  return reduction_of(operation, stage, chunk);
}

// Records a chunk in the trace. In shared memory a stage works from the moment its peers' data are
// there; over messages, waiting for them counts as work.
void record(const Stage& stage, const Strand& strand, std::size_t chunk, std::uint64_t begun) {
  const bool waited = stage.group->shared && strand.woken_ns() != 0;
  record_piece(stage, *stage.group, chunk, waited ? strand.woken_ns() : begun);
}

}  // namespace

void record_piece(const StagePlan& stage, const LevelGroup& group, std::size_t chunk,
                  std::uint64_t begun) {
  static constexpr const char* kNames[] = {"up", "across", "down", "up", "down", "up"};
  trace::record({group.name, kNames[static_cast<int>(stage.kind)], name_of(stage.algorithm)},
                trace::current_operation(), chunk, begun, trace::now_ns());
}

bool serves_level(Algorithm algorithm) {
  const AlgorithmEntry& entry = entry_of(algorithm);
  return entry.start_sending || (entry.start && !needs_single_copy(entry));
}

Task start_on_level(Algorithm algorithm, Strand& strand, LevelGroup& level, MessageGroup& group,
                    const CallArguments& args) {
  const AlgorithmEntry& entry = entry_of(algorithm);
  if (entry.start_sending) return entry.start_sending(strand, group, args);
  // Data that go down have a lane of their own.
  const bool down = entry.collective == Collective::bcast;
  static constexpr SingleCopy kNone;
  return entry.start(strand, down ? level.down : level.up, args, kNone);
}

Task run_stage(Strand& strand, Operation& operation, std::size_t number, int which) {
  Stage& stage = operation.stages[number];
  std::vector<Part>& parts = operation.parts[number * kWidth + static_cast<std::size_t>(which)];
  const bool of_parts = operation.spread != nullptr, last = number + 1 == operation.num_stages;
  MessageGroup& group = operation.groups[number * kWidth + static_cast<std::size_t>(which)];
  if (stage.passive && stage.group->rank != stage.root) {
    co_await be_passive(strand, operation, stage);
    co_return;
  }
  if (stage.passive) co_await meet_members(strand, operation, stage);
  const bool may_be_direct = may_be_in_place(operation, stage);
  if (may_be_direct) co_await settle_direct(strand, operation, number);
  const bool in_place = may_be_direct && operation.direct.went;
  const auto width = static_cast<std::size_t>(stage.done.width());
  for (auto chunk = static_cast<std::size_t>(which); chunk < operation.count(); chunk += width) {
    if (stage.after != StagePlan::kNone) {
      co_await strand.until(operation.progress(stage.after).done(chunk));
    }
    if (stage.room != StagePlan::kNone && chunk >= kKept) {
      co_await strand.until(operation.progress(stage.room).done(chunk - kKept));
    }
    const std::uint64_t begun = trace::on() ? trace::now_ns() : 0;
    strand.forget_waking();
    if (stage.passive) {
      co_await serve_members(strand, operation, stage, chunk);
    } else if (in_place) {
      co_await do_in_place(strand, operation, stage, chunk);
    } else if (of_parts) {
      if (stage.first) load_parts(operation, chunk);
      std::size_t bytes = 0;
      const CallArguments args = arguments_of_parts(operation, stage, chunk, parts, bytes);
      if (bytes > 0) {
        co_await start_on_level(stage.algorithm, strand, *stage.group, group, args);
        if (!operation.gathers) settle_piece(stage, args);
      }
      if (last) store_parts(operation, chunk);
    } else {
      const CallArguments args = arguments_of(operation, stage, chunk);
      co_await start_on_level(stage.algorithm, strand, *stage.group, group, args);
    }
    if (begun) record(stage, strand, chunk, begun);
    stage.done.note(chunk);
  }
  if (stage.passive) release_members(operation, stage);
}

}  // namespace sumac
