// SPDX-License-Identifier: BSD-3-Clause
// This is the coroutine type of every algorithm. An algorithm says what to wait for and never how:
//   Task bcast(Strand& strand, ShmGroup& group, ...) { ...; co_await strand.until(flag, 3); ... }
// Its first parameter is the strand it runs on. References must be to objects that outlive the
// operation; anything else is copied into the frame.
#pragma once

#include <coroutine>
#include <cstdlib>
#include <utility>

#include "strands/strand.h"

namespace sumac {

class [[nodiscard]] Task {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  // When a coroutine ends, the one that awaits it (if any) goes on.
  struct Final {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(Handle handle) const noexcept {
      return handle.promise().continuation ? handle.promise().continuation : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  struct promise_type {
    std::coroutine_handle<> continuation;

    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    Final final_suspend() const noexcept { return {}; }
    void return_void() const {}
    void unhandled_exception() const { std::abort(); }

    template <class... Arguments>
    static void* operator new(std::size_t bytes, Strand& strand, const Arguments&...) {
      return strand.allocate_frame(bytes);
    }
    static void operator delete(void* frame) { Strand::release_frame(frame); }
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  // co_await task runs the task on the same strand before the awaiting coroutine goes on.
  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    handle_.promise().continuation = caller;
    return handle_;
  }
  void await_resume() const noexcept {}

 private:
  friend class Strand;
  explicit Task(Handle handle) : handle_(handle) {}
  Handle release() { return std::exchange(handle_, {}); }
  Handle handle_;
};

}  // namespace sumac
