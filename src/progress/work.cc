// SPDX-License-Identifier: BSD-3-Clause
#include "progress/work.h"

#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "algorithms/direct.h"
#include "algorithms/table.h"
#include "progress/announced.h"
#include "tasks/threads.h"

namespace sumac {
namespace {

std::mutex scratch_mutex;
// This vector is never destroyed, since threads may return memory while the process ends.
std::vector<std::byte*>& scratches = *new std::vector<std::byte*>;

}  // namespace

Announcement announcement_of(const ChosenCall& call) {
  const std::uint64_t root = static_cast<std::uint32_t>(call.root(call.collective));
  return {static_cast<std::uint64_t>(call.collective) |
              std::uint64_t{call.reduces} << kCollectiveBits |
              root << (kCollectiveBits + kOpBits + kElementBits),
          call.bytes()};
}

Task start_in_group(Strand& strand, ShmGroup& group, const ChosenCall& call,
                    const SingleCopy& peers, DirectTry& direct) {
  if (direct.wanted()) {
    direct.otherwise = call.choice.algorithm;
    return try_direct(strand, group, call.collective, call, peers, direct);
  }
  if (call.slice > 0) return run_slices(strand, group, call, peers);
  return entry_of(call.choice.algorithm).start(strand, group, call, peers);
}

void Work::announce() {
  const Announcement announced = announcement_of(*call_);
  algorithm_ = call_->choice.algorithm;
  bytes_ = announced.bytes;
  if (!ranks_.levels) return ranks_.group->announce(announced);
  if (ranks_.group && ranks_.group->has_memory()) ranks_.group->announce_elsewhere(announced);
  ranks_.levels->announce(announced);
}

void Work::borrow() {
  const Algorithm algorithm = call_->choice.algorithm;
  if (!direct_.wanted() && info_of(algorithm).needs != Needs::single_copy) return;
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

void Work::run(const ChosenCall& call, const DirectTry& direct, const Ranks& ranks,
               const WaitPolicy& policy) {
  call_ = &call;
  direct_ = direct;
  ranks_ = ranks;
  overlaps_ = false;
  announce();
  if (call.choice.algorithm == Algorithm::allreduce_flat_lines && !ranks.levels &&
      !direct.wanted()) {
    allreduce::flat_lines_directly(strand_, *ranks.group, call.reduction, policy);
  } else {
    run_strands(policy);
  }
  call_ = &kept_;
}

void Work::run_strands(const WaitPolicy& policy) {
  const UseThreads threads(true);
  if (ranks_.levels && call_->slice > 0) {
    Slices slices(*call_);
    while (slices.advance()) direct_.went = ranks_.levels->run(slices.part(), direct_, policy);
  } else if (ranks_.levels) {
    direct_.went = ranks_.levels->run(*call_, direct_, policy);
  } else {
    borrow();
    strand_.run(start(), policy);
    give_back();
  }
}

void Work::begin() {
  going_ = true;
  announce();
  if (ranks_.levels) {
    if (call_->slice > 0) slices_ = std::make_unique<Slices>(*call_);
    begin_over_levels();
  } else {
    borrow();
    strand_.begin(start());
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

// Begins the call, or the next slice of it. Returns false if there is none.
bool Work::begin_over_levels() {
  if (slices_ && !slices_->advance()) return false;
  operation_ = &ranks_.levels->begin(slices_ ? slices_->part() : *call_, direct_);
  return true;
}

void Work::end_if_done() {
  if (!operation_ && !strand_.idle()) return;
  while (operation_) {
    if (!operation_->ended()) return;
    direct_.went = operation_->went_direct();
    ranks_.levels->end(*std::exchange(operation_, nullptr));
    if (slices_ && !begin_over_levels()) slices_.reset();
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
