// SPDX-License-Identifier: BSD-3-Clause
// This is the executor: it carries out the stages of any plan, and knows none of them.
#include "levels/stage.h"
#include "observe/trace.h"

namespace sumac {
namespace {

// Records a chunk in the trace. In shared memory a stage works from the moment its peers' data are
// there; over messages, waiting for them counts as work.
void record(const Stage& stage, const Worker& worker, const Strand& strand, std::size_t chunk,
            std::uint64_t begun) {
  if (!begun || worker.idle) return;
  const bool waited = stage.group->shared && strand.woken_ns() != 0;
  record_piece(stage, *stage.group, chunk, waited ? strand.woken_ns() : begun);
}

// Returns when a piece begins, or 0 if nothing is traced.
std::uint64_t begin(Strand& strand, Worker& worker) {
  worker.idle = false;
  strand.forget_waking();
  return begin_piece();
}

}  // namespace

std::uint64_t begin_piece() { return trace::on() ? trace::now_ns() : 0; }

void record_piece(const StagePlan& stage, const LevelGroup& group, std::size_t chunk,
                  std::uint64_t begun) {
  static constexpr const char* kNames[] = {"up", "across", "down", "up", "down", "up"};
  trace::record({group.name, kNames[static_cast<int>(stage.kind)], name_of(stage.algorithm)},
                trace::current_operation(), chunk, begun, trace::now_ns());
}

Task run_in_chunks(Strand& strand, Operation& operation, std::size_t number, int which) {
  Stage& stage = operation.stages[number];
  Worker& worker = operation.worker(number, static_cast<std::size_t>(which));
  const auto width = static_cast<std::size_t>(stage.done.width());
  for (auto chunk = static_cast<std::size_t>(which); chunk < operation.count(); chunk += width) {
    if (stage.after != StagePlan::kNone) {
      co_await strand.until(operation.progress(stage.after).done(chunk));
    }
    if (stage.room != StagePlan::kNone && chunk >= kKept) {
      co_await strand.until(operation.progress(stage.room).done(chunk - kKept));
    }
    const std::uint64_t begun = begin(strand, worker);
    co_await stage.work->piece(strand, operation, stage, worker, chunk);
    record(stage, worker, strand, chunk, begun);
    stage.done.note(chunk);
  }
}

Task run_stage(Strand& strand, Operation& operation, std::size_t number, int which) {
  const StageWork& work = *operation.stages[number].work;
  return (work.run ? work.run : run_in_chunks)(strand, operation, number, which);
}

Task run_through(Strand& strand, Operation& operation, std::size_t which, std::size_t strands) {
  for (std::size_t chunk = which; chunk < operation.count(); chunk += strands) {
    for (std::size_t i = 0; i < operation.num_stages; ++i) {
      Stage& stage = operation.stages[i];
      Worker& worker = operation.worker(i, which);
      const std::uint64_t begun = begin(strand, worker);
      co_await stage.work->piece(strand, operation, stage, worker, chunk);
      record(stage, worker, strand, chunk, begun);
    }
  }
}

}  // namespace sumac
