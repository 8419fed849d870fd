// SPDX-License-Identifier: BSD-3-Clause
#include "progress/work.h"

#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "algorithms/direct.h"
#include "algorithms/table.h"
#include "progress/announced.h"

namespace sumac {
namespace {

std::mutex scratch_mutex;
// Never destroyed: threads may return memory while the process ends.
std::vector<std::byte*>& scratches = *new std::vector<std::byte*>;

}  // namespace

void Work::set_barrier(const Choice& choice, const MpiAllreduce* by_mpi) {
  call = ChosenCall();
  call.collective = Collective::barrier;
  call.choice = choice;
  if (choice.algorithm != Algorithm::barrier_levels) return;
  call.reduction.input = reinterpret_cast<const std::byte*>(&barrier_in_);
  call.reduction.output = reinterpret_cast<std::byte*>(&barrier_out_);
  call.reduction.count = 1;
  static_assert(sizeof barrier_in_ == kBarrierWord);
  call.reduction.element = kBarrierWord;
  call.reduction.kernel = find_reduce(Op::bor, DType::i32);
  call.reduction.by_mpi = by_mpi;
}

Task start_in_group(Strand& strand, ShmGroup& group, ChosenCall& call, const SingleCopy& peers) {
  call.set_radix(call.choice.radix);
  if (call.direct.wanted()) {
    call.direct.otherwise = call.choice.algorithm;
    return try_direct(strand, group, call.collective, call, peers, call.direct);
  }
  return entry_of(call.choice.algorithm).start(strand, group, call, peers);
}

void Work::announce() const {
  const Announcement announced = announcement_of(call);
  if (!ranks_.levels) return ranks_.group->announce(announced);
  if (ranks_.group && ranks_.group->has_memory()) ranks_.group->announce_elsewhere(announced);
  ranks_.levels->announce(announced);
}

void Work::borrow() {
  if (!call.direct.wanted() && info_of(call.choice.algorithm).needs != Needs::single_copy) return;
  refusals_.forget();
  peers_ = {ranks_.memory, borrow_scratch(), kScratchBytes, &refusals_};
  peers_.streams = kCanStream && ranks_.streams;
  peers_.avoid = ranks_.refusals && ranks_.refusals->here.load(std::memory_order_relaxed);
}

void Work::give_back() {
  if (!peers_.scratch) return;
  return_scratch(std::exchange(peers_.scratch, nullptr));
  const bool met = refusals_.any() || refusals_.met();
  if (met && ranks_.refusals) [[unlikely]]
    ranks_.refusals->here.store(true, std::memory_order_relaxed);
}

void Work::run(const Ranks& ranks, const WaitPolicy& policy) {
  set_ranks(ranks, false);
  announce();
  if (ranks.levels) {
    call.direct.went = ranks.levels->run(call, policy);
    return;
  }
  if (call.choice.algorithm == Algorithm::allreduce_flat_lines && !call.direct.wanted()) {
    return allreduce::flat_lines_directly(strand_, *ranks.group, call.reduction, policy);
  }
  borrow();
  strand_.run(start_in_group(strand_, *ranks.group, call, peers_), policy);
  give_back();
}

void Work::begin() {
  going_ = true;
  announce();
  if (ranks_.levels) {
    operation_ = &ranks_.levels->begin(call);
  } else {
    borrow();
    strand_.begin(start_in_group(strand_, *ranks_.group, call, peers_));
    if (overlaps_) ranks_.group->let_overlap();
  }
  end_if_done();
}

bool Work::progress(bool has_time) {
  if (!going_) return false;
  const bool moved = operation_ ? ranks_.levels->progress(*operation_) : strand_.progress(has_time);
  if (moved) end_if_done();
  return moved;
}

void Work::finish(const WaitPolicy& policy) {
  strand_.finish(policy);
  end_if_done();
}

void Work::end_if_done() {
  if (operation_ ? !operation_->ended() : !strand_.idle()) return;
  if (operation_) {
    call.direct.went = operation_->went_direct();
    ranks_.levels->end(*std::exchange(operation_, nullptr));
  }
  give_back();
  going_ = false;
}

std::byte* borrow_scratch() {
  {
    const std::lock_guard<std::mutex> lock(scratch_mutex);
    if (!scratches.empty()) {
      std::byte* scratch = scratches.back();
      scratches.pop_back();
      return scratch;
    }
  }
  void* scratch = std::aligned_alloc(kPage, kScratchBytes);
  if (!scratch) std::abort();
  return static_cast<std::byte*>(scratch);
}

void return_scratch(std::byte* scratch) {
  const std::lock_guard<std::mutex> lock(scratch_mutex);
  scratches.push_back(scratch);
}

}  // namespace sumac
