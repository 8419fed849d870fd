// SPDX-License-Identifier: BSD-3-Clause
// The tests check when a call is taken for one that something makes which Sumac itself has called:
// from callbacks, after calls whose end was never seen, and on the stacks of user-level threads.
// This program is "the library"; libc's qsort(), which calls back, is other code.
#include <gtest/gtest.h>
#include <ucontext.h>

#include <csetjmp>
#include <cstdlib>
#include <thread>
#include <vector>

#include "interpose/process/entry.h"

namespace sumac {
namespace {

bool is_nested() {
  const Inside inside;
  return inside.nested();
}

bool seen_nested = false;

int compare(const void*, const void*) {
  seen_nested = is_nested();
  return 0;
}

// Returns the same for a call that other code makes.
bool is_nested_in_callback() {
  int two[2] = {};
  std::qsort(two, 2, sizeof two[0], compare);
  return seen_nested;
}

// Runs the body at the bottom of a stack: below a test there is the test's main program.
template <class Body>
void on_own_stack(Body body) {
  std::thread(body).join();
}

TEST(Nesting, ACallIsNot) {
  on_own_stack([] {
    EXPECT_FALSE(is_nested());
    EXPECT_FALSE(thread_state().inside);
  });
}

TEST(Nesting, WhatACallHasCalledIs) {
  on_own_stack([] {
    const Inside inside;
    EXPECT_TRUE(is_nested_in_callback());
    EXPECT_TRUE(thread_state().inside) << "the outer call goes on";
  });
}

TEST(Nesting, FunctionsOfTheLibraryAreNot) {
  on_own_stack([] {
    const Inside inside;
    EXPECT_FALSE(is_nested());
  });
}

// An error handler of the program's may leave a call like this.
TEST(Nesting, ACallThatWasLeftIsForgotten) {
  on_own_stack([] {
    static std::jmp_buf back;
    if (setjmp(back) == 0) {
      thread_state().inside = true;
      std::longjmp(back, 1);
    }
    EXPECT_FALSE(is_nested());
    EXPECT_FALSE(thread_state().inside);
  });
}

// A fiber is suspended in the middle of a call, and another one of the same thread calls.
TEST(Nesting, ACallOfAnotherFiberIsNot) {
  on_own_stack([] {
    static ucontext_t main, fiber;
    std::vector<char> stack(256 << 10);
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stack.data();
    fiber.uc_stack.ss_size = stack.size();
    fiber.uc_link = &main;
    makecontext(
        &fiber,
        [] {
          const Inside inside;
          swapcontext(&fiber, &main);
        },
        0);
    swapcontext(&main, &fiber);
    EXPECT_TRUE(thread_state().inside);
    EXPECT_FALSE(is_nested());
    swapcontext(&main, &fiber);
  });
}

}  // namespace
}  // namespace sumac
