// SPDX-License-Identifier: BSD-3-Clause
#include "compute.h"

#include <gtest/gtest.h>

#include "timing.h"

namespace sumac::bench {
namespace {

TEST(Compute, CallsBetweenThePieces) {
  for (const Compute mode : {Compute::busy, Compute::idle}) {
    const Computation computation(mode, 1000);
    int calls = 0;
    computation.run(5, [&] { calls++; });
    EXPECT_EQ(calls, 4);
    computation.run(1, [&] { calls++; });
    EXPECT_EQ(calls, 4);
  }
}

TEST(Compute, IdleIsNotOverBeforeItsTime) {
  const std::int64_t ns = 300000;
  const Computation computation(Compute::idle, ns);
  for (const int pieces : {1, 11}) {
    const std::int64_t start = now_ns();
    computation.run(pieces, [] {});
    EXPECT_GE(now_ns() - start, ns);
  }
}

TEST(Compute, MorePiecesThanWork) {
  const Computation computation(Compute::busy, 0);
  int calls = 0;
  computation.run(100, [&] { calls++; });
  EXPECT_EQ(calls, 99);
}

}  // namespace
}  // namespace sumac::bench
