// SPDX-License-Identifier: BSD-3-Clause
#include "progress/engine.h"

#include <mutex>

#include "tasks/threads.h"

namespace sumac {

void Engine::watch(WorkQueue& queue, bool calls_mpi) {
  queue.engine_ = this;
  if (looking()) {
    watched_.push_back({&queue, calls_mpi});
    return;
  }
  const std::lock_guard<Lock> hold(lock_);
  watched_.push_back({&queue, calls_mpi});
}

void Engine::forget(WorkQueue& queue) {
  if (looking()) {
    for (Watched& watched : watched_) {
      if (watched.queue == &queue) watched.queue = nullptr;
    }
    return;
  }
  const std::lock_guard<Lock> hold(lock_);
  std::erase_if(watched_,
                [&](const Watched& watched) { return !watched.queue || watched.queue == &queue; });
}

bool Engine::progress(bool may_call_mpi, bool has_time) {
  if (idle() || !lock_.try_lock()) return false;
  looker_.store(pthread_self(), std::memory_order_relaxed);
  const UseThreads none(false);  // this may be called within the MPI's progress
  bool moved = false, at_all = true;
  // The loop has an index, not an iterator, because a queue may be added meanwhile, and the vector
  // may move.
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    const Watched watched = watched_[i];
    if (!watched.queue) continue;
    if (may_call_mpi || !watched.calls_mpi) {
      moved |= watched.queue->progress(has_time);
    } else {
      at_all &= watched.queue->empty();
    }
  }
  looker_.store({}, std::memory_order_relaxed);
  if (at_all) looks_.store(looks() + 1, std::memory_order_relaxed);
  lock_.unlock();
  return moved;
}

}  // namespace sumac
