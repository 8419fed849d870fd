// SPDX-License-Identifier: BSD-3-Clause
#include "strands/strand.h"

#include <cstdlib>
#include <utility>

#include "base/cpu.h"
#include "observe/trace.h"
#include "strands/task.h"
#include "strands/together.h"

namespace sumac {
namespace {

// This header precedes every frame and says where its memory came from.
struct alignas(std::max_align_t) FrameHeader {
  std::size_t* used;  // the strand's fill mark, or null for memory from malloc
  std::size_t previous;
};

}  // namespace

Strand::~Strand() {
  if (root_) root_.destroy();
}

void Strand::start(Task task) {
  root_ = task.release();
  wait_ = Wait();
  resume_point_ = root_;
  if (!preempt_) advance();
}

void Strand::begin(Task task) {
  root_ = task.release();
  wait_ = Wait();
  resume_point_ = root_;
  beginning_ = true;
  has_time_ = false;
  resume();
  beginning_ = false;
}

void Strand::run(Task task, const WaitPolicy& policy) {
  in_place_ = &policy;
  has_time_ = true;
  start(std::move(task));
  in_place_ = nullptr;
}

void Strand::finish(const WaitPolicy& policy) {
  in_place_ = &policy;
  has_time_ = true;
  if (!only_idle_) wait_in_place();
  resume();
  in_place_ = nullptr;
}

void Strand::resume() {
  if (trace::on() && woken_ns_ == 0) [[unlikely]]
    woken_ns_ = trace::now_ns();
  // A coroutine that suspends again sets the next resume point.
  std::exchange(resume_point_, {}).resume();
  if (resume_point_) return;
  root_.destroy();
  root_ = {};
}

void* Strand::allocate_frame(std::size_t bytes) {
  const std::size_t need = round_up(bytes + sizeof(FrameHeader), alignof(FrameHeader));
  void* place;
  FrameHeader header{};
  if (frames_used_ + need <= kFrameBytes) {
    place = frames_ + frames_used_;
    header = {&frames_used_, frames_used_};
    frames_used_ += need;
  } else {
    place = std::malloc(need);
    if (!place) std::abort();
  }
  return new (place) FrameHeader(header) + 1;
}

void Strand::release_frame(void* frame) {
  FrameHeader* header = static_cast<FrameHeader*>(frame) - 1;
  if (header->used) {
    *header->used = header->previous;
  } else {
    std::free(header);
  }
}

namespace {

// Polls and advances everything once. `going` becomes false when all strands have ended.
bool progress_all(const Strands& strands, Pollable* outside, bool& going) {
  bool moved = outside && outside->poll();
  going = false;
  for (const auto& strand : strands) {
    moved |= strand->progress();
    going |= !strand->idle();
  }
  return moved;
}

}  // namespace

void run_together(const Strands& strands, Pollable* outside, const WaitPolicy& policy) {
  for (bool going = true; going;) {
    Waiting waiting(policy);
    while (!progress_all(strands, outside, going) && going) {
      waiting.step(!outside || !outside->busy());
    }
  }
}

}  // namespace sumac
