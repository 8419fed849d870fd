// SPDX-License-Identifier: BSD-3-Clause
#include "levels/stage_works.h"

#include "algorithms/table.h"
#include "levels/price.h"

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

Task piece(Strand& strand, Operation& operation, Stage& stage, Worker& worker, std::size_t chunk) {
  if (stage.kind == Stage::Kind::bcast) {
    worker.args = bcast_of(operation, stage, chunk);
  } else {
    worker.args = reduction_of(operation, stage, chunk);
  }
  return start_on_level(strand, stage, worker);
}

}  // namespace

const StageWork kWholeChunks{piece, price_whole_chunks, run_in_place_or_not};

Traffic price_whole_chunks(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
                           const CallShape& shape) {
  const std::size_t count = plan.chunks.count();
  return price_of_chunks(stage, group, plan.chunks[0].bytes, plan.chunks[count - 1].bytes, count,
                         shape.element);
}

bool serves_level(Algorithm algorithm) {
  const AlgorithmEntry& entry = entry_of(algorithm);
  return entry.start_sending || (entry.start && !needs_single_copy(entry));
}

Task start_on_level(Strand& strand, const Stage& stage, Worker& worker) {
  const AlgorithmEntry& entry = entry_of(stage.algorithm);
  if (entry.start_sending) return entry.start_sending(strand, worker.messages, worker.args);
  // Data that go down have a lane of their own.
  const bool down = is_from_root(entry.collective);
  static constexpr SingleCopy kNone;
  return entry.start(strand, down ? stage.group->down : stage.group->up, worker.args, kNone);
}

}  // namespace sumac
