// SPDX-License-Identifier: BSD-3-Clause
// Ranks of blocking code take turns in one thread. Whose turn comes next is drawn at every wait, so
// a seed repeats a run.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace sumac::testing {

class Fibers {
 public:
  explicit Fibers(unsigned seed) : random_(seed) {}
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  // Runs body(0) to body(number - 1) to their ends.
  template <class Body>
  void run(int number, Body body) {
    running() = this;
    std::vector<int> live;
    for (int i = 0; i < number; ++i) {
      all_.push_back(std::make_unique<Fiber>());
      all_.back()->body = [body, i] { body(i); };
      all_.back()->begin(&main_);
      live.push_back(i);
    }
    while (!live.empty()) {
      const std::size_t drawn = random_() % live.size();
      current_ = live[drawn];
      Fiber& fiber = *all_[static_cast<std::size_t>(current_)];
      swapcontext(&main_, &fiber.context);
      if (fiber.ended) live.erase(live.begin() + static_cast<std::ptrdiff_t>(drawn));
    }
    running() = nullptr;
    all_.clear();
  }

  // Returns the number of the body that runs.
  static int current() { return running()->current_; }
  // Lets another one go on, or this one. Must be called in a body.
  static void yield() {
    Fibers& own = *running();
    swapcontext(&own.all_[static_cast<std::size_t>(own.current_)]->context, &own.main_);
  }

 private:
  struct Fiber {
    static constexpr std::size_t kStack = 256 << 10;

    void begin(ucontext_t* after) {
      getcontext(&context);
      context.uc_stack.ss_sp = stack.get();
      context.uc_stack.ss_size = kStack;
      context.uc_link = after;
      makecontext(&context, enter, 0);
    }

    std::function<void()> body;
    std::unique_ptr<std::byte[]> stack = std::make_unique_for_overwrite<std::byte[]>(kStack);
    ucontext_t context{};
    bool ended = false;
  };

  static Fibers*& running() {
    static Fibers* the_running = nullptr;
    return the_running;
  }
  static void enter() {
    Fiber& own = *running()->all_[static_cast<std::size_t>(current())];
    own.body();
    own.ended = true;
  }

  std::minstd_rand random_;
  std::vector<std::unique_ptr<Fiber>> all_;
  ucontext_t main_{};
  int current_ = 0;
};

}  // namespace sumac::testing
