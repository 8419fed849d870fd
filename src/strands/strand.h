// SPDX-License-Identifier: BSD-3-Clause
// A strand runs one coroutine, with the coroutines it awaits, and knows which condition it waits
// for.
#pragma once

#include <coroutine>
#include <cstddef>

#include "strands/counter.h"
#include "strands/waiting.h"

namespace sumac {

class Task;

// A strand is one coroutine under way. It cannot be moved, since the coroutine holds a reference to
// it. One thread at a time may use it.
class Strand {
 public:
  Strand() = default;
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;
  ~Strand();

  // Takes over `task` and runs it to its first unmet condition. The strand must be idle.
  void start(Task task);

  // Takes over `task` and runs it to its first condition, whether met or not. Everything before
  // that is published to the other ranks, but their counters are not read, since reading one costs
  // a transfer of a cache line. The strand must be idle.
  void begin(Task task);

  // Takes over `task` and runs it to its end, waiting in place: the coroutine never suspends. It is
  // for a blocking call while nothing else is under way.
  void run(Task task, const WaitPolicy& policy);

  // Runs a task that was begun to its end, waiting in place as run() does.
  void finish(const WaitPolicy& policy);

  // Runs as far as conditions allow. Returns true once the task has ended.
  bool advance() {
    if (resume_point_ && wait_.ready()) advance_from_here();
    return !resume_point_;
  }

  bool idle() const { return !resume_point_; }

  // Advances. Returns true if the strand got past at least one condition. `has_time` says that the
  // caller would only wait otherwise.
  bool progress(bool has_time = true) {
    if (!resume_point_) return false;
    has_time_ = has_time;
    if (!wait_.ready() && !(has_time && only_idle_)) return false;
    advance_from_here();
    return true;
  }
  const Wait& waiting_for() const { return wait_; }

  // Traces ask when the strand first got past a condition it had to wait for, since
  // forget_waking(); 0 if it has not.
  std::uint64_t woken_ns() const { return woken_ns_; }
  void forget_waking() { woken_ns_ = 0; }

  // Tests let the strand suspend at every condition, whether met or not, so that a scheduler can
  // interleave ranks there; advance() then runs to the next condition only.
  void preempt_at_every_wait(bool on) { preempt_ = on; }

  // co_await strand.until(wait) suspends until the condition is met. The condition is built in the
  // strand's own memory: a copy of a value just stored would have to wait for the stores before it,
  // including the flag on its way to the other ranks.
  struct Until {
    Strand& strand;
    bool await_ready() const {
      if (strand.preempt_) return false;
      if (strand.beginning_) return strand.wait_.trivial();
      if (strand.wait_.ready()) return true;
      if (strand.in_place_) strand.wait_in_place();
      return strand.in_place_;
    }
    void await_suspend(std::coroutine_handle<> handle) const { strand.resume_point_ = handle; }
    void await_resume() const {}
  };
  Until until(const Wait& wait) {
    wait_.take(wait);
    return {*this};
  }
  Until until(const Counter& counter, std::uint64_t target) { return until(Wait(counter, target)); }

  // co_await strand.until_idle(wait) goes on when the condition is met, or as soon as this rank has
  // nothing to do but wait: it may then take over work that others have left.
  struct UntilIdle {
    Until until;
    bool await_ready() const {
      Strand& strand = until.strand;
      if (!strand.preempt_ && !strand.beginning_ && strand.has_time_) return true;
      if (until.await_ready()) return true;
      strand.only_idle_ = true;
      return false;
    }
    void await_suspend(std::coroutine_handle<> handle) const { until.await_suspend(handle); }
    void await_resume() const { until.strand.only_idle_ = false; }
  };
  UntilIdle until_idle(const Wait& wait) { return {until(wait)}; }

  // Waits in place for a condition outside of any coroutine, for the direct paths. The strand must
  // be idle.
  void wait_directly(const Wait& wait, const WaitPolicy& policy) {
    wait_.take(wait);
    if (wait_.ready()) return;
    in_place_ = &policy;
    wait_in_place();
    in_place_ = nullptr;
  }

  // The frames of coroutines lie in this memory, which is released in reverse order. The frames of
  // every algorithm of the library fit without a call to malloc.
  void* allocate_frame(std::size_t bytes);
  static void release_frame(void* frame);

 private:
  friend class Task;
  void resume();
  // Resumes the coroutine: its condition is met or need not be.
  void advance_from_here() {
    do {
      resume();
    } while (!preempt_ && resume_point_ && wait_.ready());
  }
  void wait_in_place() {
    Waiting waiting(*in_place_);
    while (!wait_.ready()) waiting.step();
  }

  static constexpr std::size_t kFrameBytes = 4096;
  std::coroutine_handle<> resume_point_;
  Wait wait_;
  bool preempt_ = false, beginning_ = false;
  bool has_time_ = true;    // the caller of progress() would only wait otherwise
  bool only_idle_ = false;  // suspended in until_idle()
  const WaitPolicy* in_place_ = nullptr;
  std::coroutine_handle<> root_;
  std::size_t frames_used_ = 0;
  std::uint64_t woken_ns_ = 0;
  alignas(std::max_align_t) std::byte frames_[kFrameBytes];
};

}  // namespace sumac
