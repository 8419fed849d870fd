// SPDX-License-Identifier: BSD-3-Clause
#include "layout/layouts.h"

#include "kernels/reduce.h"
#include "layout/byte_map_test.h"

namespace sumac {
namespace {

using Loop = LayoutNode::Loop;
using Runs = LayoutNode::Runs;

TEST(Layout, merges_what_adjoins) {
  const DataLayout row = repeated(layout_of_block(8), 10, 8);
  EXPECT_TRUE(row.is_contiguous());
  EXPECT_TRUE(repeated(row, 7, 80).is_contiguous());
  EXPECT_FALSE(repeated(row, 7, 88).is_contiguous());
  EXPECT_TRUE(joined({layout_of_block(4), shifted(layout_of_block(12), 4)}).is_contiguous());
}

TEST(Layout, collapses_nested_loops) {
  const DataLayout column = repeated(layout_of_block(8), 256, 2048);
  const DataLayout face = repeated(column, 512, 256 * 2048);
  const auto* loop = std::get_if<Loop>(&face.node->form);
  ASSERT_TRUE(loop);
  EXPECT_EQ(256u * 512u, loop->count);
  EXPECT_EQ(2048, loop->stride);
}

TEST(Layout, regular_lists_are_loops) {
  RunList list(layout_of_block(8), 8, 1000);
  for (std::ptrdiff_t i = 0; i < 1000; ++i) list.add(i * 40, 3);
  const DataLayout layout = list.finish();
  EXPECT_TRUE(std::holds_alternative<Loop>(layout.node->form));
  EXPECT_LT(memory_of(layout), 1000u);
}

TEST(Layout, millions_of_single_bytes_take_nine_bytes_each) {
  constexpr std::size_t kRuns = 10'000'000;
  RunList list(layout_of_block(1), 1, kRuns);
  for (std::size_t i = 0; i < kRuns; ++i) list.add(static_cast<std::ptrdiff_t>(i * 3 + i % 2), 1);
  const DataLayout layout = list.finish();
  EXPECT_EQ(kRuns, layout.bytes());
  EXPECT_LE(memory_of(layout), kRuns * 9);
}

TEST(Layout, nothing_is_nothing) {
  EXPECT_EQ(0u, layout_of_block(0).bytes());
  EXPECT_EQ(0u, repeated(layout_of_block(8), 0, 8).bytes());
  EXPECT_EQ(0u, joined({{}, {}}).bytes());
  EXPECT_EQ(0u, RunList(layout_of_block(4), 4, 0).finish().bytes());
  RunList of_nothing({}, 8, 2);
  of_nothing.add(0, 3);
  EXPECT_EQ(0u, of_nothing.finish().bytes());
}

TEST(Layout, runs_may_be_far_apart) {
  constexpr std::ptrdiff_t kFar = std::ptrdiff_t{5} << 30;
  RunList list(3);
  list.add(0, 4);
  list.add(kFar, 3);
  list.add(-kFar, 5);
  const DataLayout layout = list.finish();
  const auto& runs = std::get<Runs>(layout.node->form);
  ASSERT_EQ(3u, runs.groups.size());
  EXPECT_EQ(kFar, runs.groups[1].at);
  EXPECT_EQ(-kFar, runs.groups[2].at);
  EXPECT_EQ(7u, runs.groups[2].before);
}

TEST(Layout, runs_may_be_long) {
  constexpr std::size_t kLong = std::size_t{9} << 30;
  RunList list(2);
  list.add(0, kLong);
  list.add(static_cast<std::ptrdiff_t>(kLong) + 5, 7);
  EXPECT_EQ(kLong + 7, list.finish().bytes());
}

TEST(Mover, copies_any_range_of_loops) {
  for (std::size_t block : {1, 3, 8, 24, 70, 200}) {
    const auto step = static_cast<std::ptrdiff_t>(block);
    for (std::ptrdiff_t stride : {2 * step, 3 * step + 1, -2 * step, step}) {
      const Pair row = repeated_pair(block_pair(block), 9, stride);
      ASSERT_NO_FATAL_FAILURE(compare(row, 1, 0, 400));
      const Pair rows = repeated_pair(row, 3, 40 * step);
      ASSERT_NO_FATAL_FAILURE(compare(rows, 2, 200 * step, 100));
    }
  }
}

TEST(Mover, copies_any_range_of_lists) {
  for (std::size_t block : {1, 2, 4, 5, 8, 16, 30}) {
    RunList list(layout_of_block(block), static_cast<std::ptrdiff_t>(block), 200);
    Pair pair;
    for (std::ptrdiff_t i = 0; i < 200; ++i) {
      const std::ptrdiff_t at = i * 50 + i % 3;
      list.add(at, 1);
      append(pair.places, block_pair(block).places, at);
    }
    pair.layout = list.finish();
    ASSERT_NO_FATAL_FAILURE(compare(pair, 2, 200 * 50, 60));
  }
}

// Short runs are packed by copies that are longer than the runs. At the ends of memory, where pages
// without data may lie between, and where runs are long or not in order, the copies must not be
// longer.
TEST(Mover, copies_any_range_of_short_runs) {
  for (const std::ptrdiff_t page_gap : {0, 4095, 4096, 70000}) {
    for (const std::size_t longest : {5, 40, 64, 70}) {
      for (const bool descends : {false, true}) {
        RunList list(700);
        Pair pair;
        std::ptrdiff_t at = 0;
        for (std::size_t i = 0; i < 700; ++i) {
          const std::size_t bytes = 1 + i * 7 % longest;
          list.add(descends ? -at : at, bytes);
          append(pair.places, block_pair(bytes).places, descends ? -at : at);
          at += static_cast<std::ptrdiff_t>(70 + i % 3) + (i % 50 == 49 ? page_gap : 0);
        }
        pair.layout = list.finish();
        ASSERT_NO_FATAL_FAILURE(compare(pair, 1, 0, 40));
      }
    }
  }
}

// Results that leave the caches take another path through the code.
TEST(Mover, streams_the_same_bytes) {
  set_stream_bytes(0);
  for (std::size_t block : {8, 64, 100, 2000}) {
    for (std::ptrdiff_t gap : {8, 64, 3}) {
      const std::ptrdiff_t stride = static_cast<std::ptrdiff_t>(block) + gap;
      const Pair rows = repeated_pair(block_pair(block), 30000 / block, stride);
      ASSERT_NO_FATAL_FAILURE(compare(rows, 1, 0, 20));
    }
  }
  set_stream_bytes(SIZE_MAX);
}

}  // namespace
}  // namespace sumac
