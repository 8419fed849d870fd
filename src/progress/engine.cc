// SPDX-License-Identifier: BSD-3-Clause
#include "progress/engine.h"

#include <sched.h>
#include <signal.h>
#include <time.h>

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

namespace {

constexpr timespec kPeriod{0, 1'000'000};
// The thread looks at the queues this often with nothing under way before it parks.
constexpr int kPatience = 100;

// Blocks signals in the new thread: the program's signals are for the program's threads. What the
// thread does itself with the program's buffers may fault, as where the program protects pages to
// learn of accesses. If such a signal is blocked, the kernel ends the process instead of calling
// the program's handler.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t others;
    sigfillset(&others);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
      sigdelset(&others, own);
    pthread_sigmask(SIG_SETMASK, &others, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

bool Helper::start(Zeal zeal, bool may_call_mpi) {
  const std::lock_guard<std::mutex> hold(mutex_);
  if (running_) return true;
  ending_ = false;
  zeal_ = zeal;
  may_call_mpi_ = may_call_mpi;
  const SignalsBlocked blocked;
  running_ = pthread_create(&thread_, nullptr, enter, this) == 0;
  return running_;
}

void Helper::stop() {
  {
    const std::lock_guard<std::mutex> hold(mutex_);
    if (!running_) return;
    ending_ = true;
    condition_.notify_one();
  }
  pthread_join(thread_, nullptr);
  running_ = false;
}

void* Helper::enter(void* helper) {
  static_cast<Helper*>(helper)->run();
  return nullptr;
}

void Helper::wake() {
  const std::lock_guard<std::mutex> hold(mutex_);
  parked_ = false;
  condition_.notify_one();
}

// The order matters: a thread that begins a work first counts it and then reads `parked_`.
void Helper::park() {
  std::unique_lock<std::mutex> hold(mutex_);
  parked_.store(true, std::memory_order_seq_cst);
  if (!engine_.idle()) parked_ = false;
  condition_.wait(hold, [this] { return !parked_ || ending_; });
}

void Helper::run() {
  std::uint64_t seen = 0;
  for (int quiet = 0; !ending_;) {
    quiet = engine_.idle() ? quiet + 1 : 0;
    if (quiet > kPatience) park();
    if (zeal_ == Zeal::busy && !engine_.idle()) {
      if (!engine_.progress(may_call_mpi_)) sched_yield();
      continue;
    }
    nanosleep(&kPeriod, nullptr);
    if (engine_.looks() == seen) engine_.progress(may_call_mpi_, false);
    seen = engine_.looks();
  }
}

}  // namespace sumac
