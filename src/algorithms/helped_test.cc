// SPDX-License-Identifier: BSD-3-Clause
// Threads help with large folds here: ranks are threads, and the OpenMP run-time library is a
// stand-in, found in this program as a real one is. ThreadSanitizer sees through it.
#include <gtest/gtest.h>
#include <sched.h>

#include <mutex>
#include <thread>

#include "algorithms/message_fold.h"
#include "observe/stats.h"
#include "strands/waiting.h"
#include "testing/group_world.h"
#include "testing/kernels.h"
#include "testing/test_exchange.h"

namespace sumac::testing {
namespace {

thread_local bool in_region = false;
std::mutex mutex;
std::vector<std::thread> tasks;

void join_tasks() {
  for (std::thread& task : tasks) task.join();
  tasks.clear();
}

}  // namespace
}  // namespace sumac::testing

#pragma GCC visibility push(default)
extern "C" {
int omp_in_parallel() { return sumac::testing::in_region ? 1 : 0; }
int omp_get_max_threads() { return 3; }
int omp_get_num_threads() { return 3; }
int omp_get_num_procs() { return 64; }
void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned) {
  std::vector<std::thread> others;
  for (unsigned t = 1; t < threads; ++t) others.emplace_back(body, data);
  body(data);
  for (std::thread& other : others) other.join();
}
void GOMP_task(void (*body)(void*), void* data, void (*)(void*, void*), long size, long, bool,
               unsigned, void**, int, void*) {
  std::vector<std::byte> copy(static_cast<std::byte*>(data), static_cast<std::byte*>(data) + size);
  const std::lock_guard<std::mutex> hold(sumac::testing::mutex);
  sumac::testing::tasks.emplace_back([body, copy]() mutable { body(copy.data()); });
}
}
#pragma GCC visibility pop

namespace sumac::testing {
namespace {

// Lets other threads run between a fetch and its fold.
void slow_kernel(void* dst, const void* const* srcs, int num_srcs, std::size_t count) {
  sched_yield();
  tree_kernel(dst, srcs, num_srcs, count);
}

class Helped : public ::testing::Test {
 protected:
  void SetUp() override {
    set_threads({.min_bytes = 4096, .own_regions = true});
    set_processor_room({.processors = 64, .known = 1});
  }
  void TearDown() override {
    join_tasks();
    set_threads({});
  }
};

// Makes one call of one rank. Returns how many elements of its result are wrong.
int call(Rank& rank, int n) {
  const int ranks = rank.group.size(), me = rank.group.rank(), root = n % ranks;
  const bool to_all = n % 2 == 0;
  const std::size_t count = static_cast<std::size_t>(n) * 37'919 % 400'000 + 1;
  Words input(count), output(count);
  for (std::size_t i = 0; i < count; ++i) input[i] = own_word(me, i, n);
  ReduceArguments& args = rank.args.reduction;
  args.input = reinterpret_cast<const std::byte*>(input.data());
  args.output = reinterpret_cast<std::byte*>(output.data());
  args.count = count;
  args.element = sizeof(std::uint32_t);
  args.kernel = slow_kernel;
  args.root = root;
  const UseThreads may(true);
  in_region = n % 3 == 0;
  const WaitPolicy policy;
  rank.strand.run(to_all ? allreduce::single_copy(rank.strand, rank.group, args, rank.peers)
                         : reduce::single_copy(rank.strand, rank.group, args, rank.peers),
                  policy);
  int wrong = 0;
  for (std::size_t i = 0; i < count && (to_all || me == root); ++i) {
    wrong += output[i] != folded_words(tree_kernel, ranks, i, n);
  }
  return wrong;
}

// Makes one call of a collective that only copies: a broadcast, an all-gather or an all-to-all.
int copy(Rank& rank, int n) {
  const int ranks = rank.group.size(), me = rank.group.rank(), root = n / 3 % ranks;
  const std::size_t block = static_cast<std::size_t>(n) * 7'919 % 100'000 + 1;
  const std::size_t all = block * static_cast<std::size_t>(ranks), bytes = all * sizeof(Word);
  Words input(all), output(all);
  for (std::size_t i = 0; i < all; ++i) input[i] = own_word(me, i, n);
  const auto* const in = reinterpret_cast<const std::byte*>(input.data());
  auto* const out = reinterpret_cast<std::byte*>(output.data());
  const Exchange exchange = equal_exchange(bytes, ranks);
  const UseThreads may(true);
  in_region = n % 2 == 0;
  const WaitPolicy policy;
  const auto run = [&](Task task) { rank.strand.run(std::move(task), policy); };
  const BcastArguments bcast{me == root ? const_cast<std::byte*>(in) : out, bytes, root};
  const AllgatherArguments gather{in, out, {bytes, ranks, block * sizeof(Word), 0, nullptr}};
  const AlltoallArguments swap{in, out, exchange.sent(me, false), exchange.received(me, false)};
  switch (n % 3) {
    case 0:
      run(bcast::single_copy(rank.strand, rank.group, bcast, rank.peers));
      break;
    case 1:
      run(allgather::single_copy(rank.strand, rank.group, gather, rank.peers));
      break;
    default:
      run(alltoall::single_copy(rank.strand, rank.group, swap, rank.peers));
  }
  int wrong = 0;
  for (std::size_t i = 0; i < all; ++i) {
    const auto from = static_cast<int>(i / block);
    const std::size_t own = static_cast<std::size_t>(me) * block;
    const Word sent[] = {own_word(root, i, n), own_word(from, i % block, n),
                         own_word(from, own + i % block, n)};
    wrong += output[i] != sent[n % 3] && (n % 3 != 0 || me != root);
  }
  return wrong;
}

// Runs 20 calls of all ranks, each in a thread of its own, and expects that threads have helped.
// One in `refused_one_of` copies of the last rank is refused; 0: none.
void run_by_single_copy(int (*made)(Rank& rank, int n), int refused_one_of = 0) {
  for (const int ranks : {2, 3, 4}) {
    const Stats before = process_stats();
    World world(ranks, 8, 512, Control::slot);
    world[ranks - 1].memory.refused_one_of = refused_one_of;
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r) {
      world[r].scratch.resize(384 << 10);
      world[r].peers.scratch = world[r].scratch.data();
      world[r].peers.scratch_bytes = world[r].scratch.size();
      world[r].strand.preempt_at_every_wait(false);
      threads.emplace_back([&, r] {
        for (int n = 0; n < 20; ++n) {
          world[r].refusals.forget();
          wrong += made(world[r], n);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    join_tasks();
    EXPECT_EQ(wrong, 0) << ranks << " ranks";
    const Stats after = process_stats();
    for (const ThreadUse use : {ThreadUse::tasks, ThreadUse::region}) {
      const int u = static_cast<int>(use);
      EXPECT_GT(after.threads[u], before.threads[u]) << ranks << " ranks, " << u;
    }
  }
}

TEST_F(Helped, ReductionsBySingleCopy) { run_by_single_copy(call); }

TEST_F(Helped, CopiesBySingleCopy) { run_by_single_copy(copy); }

// Any of the threads may be refused, once or always.
TEST_F(Helped, ReductionsRefused) {
  for (const int one_of : {1, 3}) run_by_single_copy(call, one_of);
}

TEST_F(Helped, CopiesRefused) {
  for (const int one_of : {1, 3}) run_by_single_copy(copy, one_of);
}

TEST_F(Helped, FoldsOfMessages) {
  for (const std::size_t count : {0, 1, 1000, 1024, 100'000, 300'001}) {
    for (const bool inside : {false, true}) {
      Words a(count), b(count), c(count), result(count), expected(count);
      for (std::size_t i = 0; i < count; ++i) {
        a[i] = own_word(0, i, 0);
        b[i] = own_word(1, i, 0);
        c[i] = own_word(2, i, 0);
      }
      const void* const from[] = {a.data(), b.data(), c.data()};
      tree_kernel(expected.data(), from, 3, count);
      ReduceArguments args;
      args.element = sizeof(std::uint32_t);
      args.kernel = tree_kernel;
      const auto bytes = [](Words& words) { return reinterpret_cast<std::byte*>(words.data()); };
      const std::byte* const sources[] = {bytes(a), bytes(b), bytes(c)};
      const UseThreads may(true);
      in_region = inside;
      fold_all(args, sources, 3, bytes(result), count);
      EXPECT_EQ(result, expected) << count;
      // These folds are in place.
      fold_two(args, bytes(a), bytes(b), bytes(b), count);
      fold_two(args, bytes(b), bytes(c), bytes(c), count);
      EXPECT_EQ(c, expected) << count;
      join_tasks();
    }
  }
}

TEST_F(Helped, PiecesCoverEveryElementOnceAndBeginAtCacheLines) {
  for (const std::size_t element : {1, 2, 4, 6, 8, 12, 16, 32}) {
    for (const std::size_t count : {1, 63, 100'000, 1'000'003}) {
      for (const std::uintptr_t offset : {0, 1, 4, 12, 48, 63}) {
        for (const int threads : {2, 3, 64}) {
          const std::uintptr_t address = 4096 + offset;
          const Cut cut(reinterpret_cast<void*>(address), count, element, threads);
          ASSERT_EQ(cut.begin(0), 0u);
          ASSERT_EQ(cut.begin(cut.pieces()), count);
          ASSERT_LE(cut.pieces(), 1 + 4 * static_cast<std::size_t>(threads));
          for (std::size_t p = 0; p < cut.pieces(); ++p) {
            ASSERT_LT(cut.begin(p), cut.begin(p + 1));
            const bool can = (64 - offset) % 64 % element == 0;
            const std::size_t in_line = (address + cut.begin(p) * element) % 64;
            ASSERT_TRUE(p == 0 || !can || in_line == 0) << in_line;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace sumac::testing
