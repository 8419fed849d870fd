// SPDX-License-Identifier: BSD-3-Clause
#include "progress/queue.h"

#include <mutex>

#include "progress/engine.h"

namespace sumac {
namespace {

void append(Work*& first, Work*& last, Work& work) {
  work.next = nullptr;
  (first ? last->next : first) = &work;
  last = &work;
}

}  // namespace

void WorkQueue::note_added(Work& work) {
  size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  engine_->under_way_.fetch_add(1, std::memory_order_seq_cst);
  work.ended.store(false, std::memory_order_relaxed);
}

void WorkQueue::add(Work& work, const ChosenCall& call, const DirectTry& direct, const Ranks& ranks,
                    bool overlaps) {
  const std::lock_guard<Lock> hold(lock_);
  note_added(work);
  work.set(call, direct, ranks, overlaps);
  work.apart = false;
  append(waiting_, last_waiting_, work);
  begin_next();
}

void WorkQueue::add_apart(Work& work, const ChosenCall& call, const DirectTry& direct,
                          const Ranks& ranks) {
  const std::lock_guard<Lock> hold(lock_);
  note_added(work);
  work.set(call, direct, ranks, false);
  work.apart = true;
  begin(work);
}

// A work that ends at once never enters the list.
void WorkQueue::begin(Work& work) {
  work.begin();
  if (!work.going()) return end(work);
  append(begun_, last_begun_, work);
  num_in_order_ += !work.apart;
}

void WorkQueue::begin_next() {
  static_assert(kPositions + kMostInGroup < kAnnouncedCalls, "flags of all are known");
  while (waiting_) {
    Work& work = *waiting_;
    if (num_in_order_ >= (work.over_levels() ? kMostOverLevels : kMostInGroup)) return;
    if (work.ranks().group && work.ranks().group->takes_more()) return;
    waiting_ = work.next;
    begin(work);
  }
}

bool WorkQueue::progress(bool has_time) {
  if (empty() || !lock_.try_lock()) return false;
  bool moved = false;
  Work* before = nullptr;
  for (Work* work = begun_; work;) {
    Work* const next = work->next;
    moved |= work->progress(has_time);
    if (work->going()) {
      before = work;
    } else {
      (before ? before->next : begun_) = next;
      if (last_begun_ == work) last_begun_ = before;
      num_in_order_ -= !work->apart;
      end(*work);
    }
    work = next;
  }
  begin_next();
  lock_.unlock();
  return moved;
}

void WorkQueue::wait_for(const Work& work, const WaitPolicy& policy) {
  if (finish_alone(work, policy)) return;
  const auto ended = [&] { return work.ended.load(std::memory_order_acquire); };
  while (!ended()) {
    Waiting waiting(policy);
    while (!progress() && !ended()) waiting.step(!work.over_levels());
  }
}

void WorkQueue::finish_all(const WaitPolicy& policy) {
  while (!empty()) {
    Waiting waiting(policy);
    // Work over levels waits for messages too, so it must not doze.
    while (!progress() && !empty()) waiting.step(false);
  }
}

bool WorkQueue::finish_alone(const Work& work, const WaitPolicy& policy) {
  if (!single_caller_ || !lock_.try_lock()) return false;
  Work* const only = begun_;
  const bool alone = only == &work && !only->next && !waiting_ && !only->over_levels();
  if (alone) {
    in_place_ = only;
    only->finish(policy);
    in_place_ = nullptr;
    begun_ = last_begun_ = nullptr;
    num_in_order_ = 0;
    end(*only);
  }
  lock_.unlock();
  return alone;
}

// The owner may use the work again as soon as it is marked as ended.
void WorkQueue::end(Work& work) {
  engine_->under_way_.fetch_sub(1, std::memory_order_relaxed);
  size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  work.ended.store(true, std::memory_order_release);
}

}  // namespace sumac
