// SPDX-License-Identifier: BSD-3-Clause
// The tests run every algorithm with ranks as threads: real concurrency, more ranks than cores, and
// memory that ThreadSanitizer can see.
#include <gtest/gtest.h>

#include <thread>

#include "algorithms/direct.h"
#include "algorithms/table.h"
#include "strands/waiting.h"
#include "testing/group_world.h"
#include "testing/kernels.h"
#include "testing/test_exchange.h"

namespace sumac::testing {
namespace {

// Returns the algorithm of the n-th call, in turn.
const AlgorithmEntry& entry_for(int n) {
  static const std::vector<Algorithm> all = [] {
    std::vector<Algorithm> some;
    for (const Algorithm algorithm : kAllAlgorithms) {
      const AlgorithmEntry& entry = entry_of(algorithm);
      if (entry.start || entry.start_direct) some.push_back(algorithm);
    }
    return some;
  }();
  return entry_of(all[static_cast<std::size_t>(n) * 7 % all.size()]);
}

// Sometimes a rank's buffers are not mapped.
DirectTry attempt_of(const AlgorithmEntry& entry, int n, int rank, int ranks) {
  DirectTry attempt;
  for (const Algorithm algorithm : kAllAlgorithms) {
    const AlgorithmEntry& other = entry_of(algorithm);
    if (other.collective != entry.collective) continue;
    if (other.needs == Needs::maps) attempt.algorithm = algorithm;
    if (other.start && other.needs == Needs::slots && other.order == entry.order) {
      attempt.otherwise = algorithm;
    }
  }
  attempt.page = 128;
  attempt.mapped = n % 5 != 0 || n % ranks != rank;
  return attempt;
}

// Returns parts that are larger for later ranks; the first rank has nothing.
std::vector<Part> growing_parts(std::size_t count, int ranks) {
  std::vector<Part> listed;
  for (std::size_t r = 0, at = 0; r < static_cast<std::size_t>(ranks); ++r) {
    const auto all = static_cast<std::size_t>(std::max(1, ranks * (ranks - 1) / 2));
    const std::size_t size =
        r + 1 == static_cast<std::size_t>(ranks) ? count - at : count * r / all;
    listed.push_back({at * sizeof(Word), size * sizeof(Word)});
    at += size;
  }
  return listed;
}

// Returns the arguments of the same call for another collective.
CallArguments arguments_of(Collective what, const ReduceArguments& args, int rank,
                           const Parts& parts, Exchange& exchange) {
  const bool lists = !info_of(what).is_sized;
  switch (info_of(what).arguments) {
    case ArgumentKind::bcast:
      return BcastArguments{args.output, args.bytes(), args.root};
    case ArgumentKind::reduce_scatter:
      return ReduceScatterArguments{args, parts};
    case ArgumentKind::allgather:
      return AllgatherArguments{args.input + parts[rank].offset, args.output, parts};
    case ArgumentKind::alltoall:
      return AlltoallArguments{args.input, args.output, exchange.sent(rank, lists),
                               exchange.received(rank, lists), exchange.scratch[0].data()};
    case ArgumentKind::reduction:
      break;
  }
  return args;
}

// Makes one call. Returns the number of wrong elements.
int call(Rank& rank, const WaitPolicy& policy, int n) {
  const int ranks = rank.group.size(), me = rank.group.rank();
  const AlgorithmEntry& entry = entry_for(n);
  const int root = n % ranks;
  const bool reduces = entry.order != Order::none;
  const ArgumentKind arguments = info_of(entry.collective).arguments;
  const std::size_t most = entry.needs == Needs::lines ? kLinesData / sizeof(Word) : 700;
  const std::size_t count = static_cast<std::size_t>(n) * 37 % most + 1;
  Words input(count), output(count);
  for (std::size_t i = 0; i < count; ++i) input[i] = own_word(me, i, n);
  if (arguments == ArgumentKind::bcast) output = input;
  ReduceArguments args;
  args.input = reinterpret_cast<const std::byte*>(input.data());
  args.output = reinterpret_cast<std::byte*>(output.data());
  args.count = count;
  args.element = sizeof(Word);
  args.kernel = kernel_showing(entry.order);
  args.root = root;
  const std::vector<Part> listed = growing_parts(count, ranks);
  const Parts parts{args.bytes(), ranks, 0, 0, listed.data()};
  const Part own = parts[me];
  const std::size_t block = count / static_cast<std::size_t>(ranks);
  Exchange exchange = equal_exchange(block * static_cast<std::size_t>(ranks) * sizeof(Word), ranks);
  rank.args = arguments_of(entry.collective, args, me, parts, exchange);
  const auto start = [&] {
    if (entry.start) return entry.start(rank.strand, rank.group, rank.args, rank.peers);
    rank.direct = attempt_of(entry, n, me, ranks);
    rank.peers.streams = kCanStream && n % 2;
    return try_direct(rank.strand, rank.group, entry.collective, rank.args, rank.peers,
                      rank.direct);
  };
  const bool may_be_direct = &entry == &entry_of(Algorithm::allreduce_flat_lines);
  // There are three ways through an operation.
  if (may_be_direct && n % 2 == 0) {
    allreduce::flat_lines_directly(rank.strand, rank.group, args, policy);
  } else if (n % 3 == 0) {
    rank.strand.run(start(), policy);
  } else {
    rank.strand.start(start());
    Waiting waiting(policy);
    while (!rank.strand.advance()) waiting.step();
  }

  int wrong = 0;
  if (!gets_result(entry.collective, me, root)) return wrong;
  if (is_all_to_all(entry.collective)) {
    for (std::size_t i = 0; i < block * static_cast<std::size_t>(ranks); ++i) {
      const std::size_t from = i % block + static_cast<std::size_t>(me) * block;
      wrong += output[i] != own_word(static_cast<int>(i / block), from, n);
    }
    return wrong;
  }
  if (arguments == ArgumentKind::allgather) {
    int owner = 0;
    for (std::size_t i = 0; i < count; ++i) {
      while (i * sizeof(Word) >= parts[owner].offset + parts[owner].bytes) ++owner;
      wrong += output[i] != own_word(owner, i, n);
    }
    return wrong;
  }
  const bool scatters = arguments == ArgumentKind::reduce_scatter;
  const std::size_t first = scatters ? own.offset / sizeof(Word) : 0;
  const std::size_t results = scatters ? own.bytes / sizeof(Word) : count;
  for (std::size_t i = 0; i < results; ++i) {
    wrong += output[i] !=
             (reduces ? folded_words(args.kernel, ranks, first + i, n) : own_word(root, i, n));
  }
  return wrong;
}

void run_threads(int ranks, int calls, std::uint32_t spins, Control control = Control::slot) {
  World world(ranks, 8, 512, control);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    world[r].strand.preempt_at_every_wait(false);
    threads.emplace_back([&, r] {
      WaitPolicy policy;
      policy.spins = spins;
      for (int n = 0; n < calls; ++n) wrong += call(world[r], policy, n);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0) << ranks << " ranks";
}

TEST(Threads, EveryAlgorithmManyRanks) {
  for (int ranks : {1, 2, 3, 4, 5, 8, 13}) run_threads(ranks, 3000, 0);
}

TEST(Threads, TwoSpinningRanks) { run_threads(2, 20000, 1000); }

TEST(Threads, FlagsApartFromData) {
  for (const Control control : {Control::slab, Control::staggered}) {
    run_threads(2, 4000, 1000, control);
    run_threads(5, 1000, 1, control);
  }
}

}  // namespace
}  // namespace sumac::testing
