// SPDX-License-Identifier: BSD-3-Clause
// For tests: random programs of blocking and nonblocking collectives on several communicators that
// share ranks. How they are carried out - ranks in turn in one thread, or each a thread - is the
// test's.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/test_support.h"
#include "progress/queue.h"
#include "transport/p2p/test_post_office.h"

namespace sumac::testing {

using Word = std::uint32_t;
using Words = std::vector<Word>;
using Random = std::mt19937;

inline std::size_t below(Random& random, std::size_t bound) { return random() % bound; }

inline const PostedAllreduce kBarrierByMpi{find_reduce(Op::bor, DType::i32), sizeof(std::int32_t)};

// One collective call: what every member puts in, gets out, and should get.
struct Call {
  Collective what;
  Choice choice;
  int root;
  std::size_t count;
  bool in_place, overlaps;
  ReduceFn kernel;
  PostedAllreduce by_mpi;
  std::vector<Words> input, output;  // by member, with a guard word behind them
  Words expected;
  std::atomic<int> begun{0}, ended{0};

  Call(Choice c, Collective w, int members, bool nonblocking, ReduceFn k, std::size_t most,
       Random& random)
      : what(w),
        choice(c),
        root(static_cast<int>(below(random, static_cast<std::size_t>(members)))),
        count(what == Collective::barrier ? 0 : 1 + below(random, most)),
        in_place(random() % 2 && what != Collective::bcast),
        overlaps(nonblocking),
        kernel(k),
        by_mpi(k, sizeof(Word)) {
    for (int m = 0; m < members; ++m) {
      Words words(count + 1, kGuard), result(count + 1, kGuard);
      for (std::size_t i = 0; i < count; ++i) words[i] = static_cast<Word>(random());
      const bool filled = what == Collective::bcast || (in_place && has_result(m));
      if (filled) result = words;
      input.push_back(std::move(words));
      output.push_back(std::move(result));
    }
    expect();
  }

  // The whole result: member m gives its part of an all-gather, and gets its part of a
  // reduce-scatter.
  void expect() {
    expected = input[what == Collective::bcast ? static_cast<std::size_t>(root) : 0];
    for (int m = 1; m < members() && what != Collective::bcast; ++m) {
      const Words& other = input[static_cast<std::size_t>(m)];
      const auto [first, words] = words_of(m);
      if (what == Collective::allgather) {
        std::copy_n(other.data() + first, words, expected.data() + first);
        continue;
      }
      const void* sources[] = {expected.data(), other.data()};
      kernel(expected.data(), sources, 2, count);
    }
  }

  int members() const { return static_cast<int>(input.size()); }
  bool has_result(int member) const { return what != Collective::reduce || member == root; }
  Parts parts() const { return {count * sizeof(Word), members(), sizeof(Word)}; }
  // The first word and the number of words of the member's part.
  std::pair<std::size_t, std::size_t> words_of(int member) const {
    const Part part = parts()[member];
    return {part.offset / sizeof(Word), part.bytes / sizeof(Word)};
  }

  // Makes it the member's work.
  void describe(Work& work, int member) {
    ++begun;
    if (what == Collective::barrier) return work.set_barrier(choice, &kBarrierByMpi);
    const auto m = static_cast<std::size_t>(member);
    auto* out = reinterpret_cast<std::byte*>(output[m].data());
    const auto* in = reinterpret_cast<const std::byte*>(input[m].data());
    work.call = ChosenCall();
    work.call.collective = what;
    work.call.choice = choice;
    if (what == Collective::bcast) {
      work.call.bcast = {out, count * sizeof(Word), root};
      return;
    }
    if (what == Collective::allgather) {
      work.call.allgather = {(in_place ? out : in) + parts()[member].offset, out, parts()};
      return;
    }
    const bool scatters = what == Collective::reduce_scatter;
    ReduceArguments& args = scatters ? work.call.reduce_scatter : work.call.reduction;
    if (scatters) work.call.reduce_scatter.parts = parts();
    args.input = in_place && has_result(member) ? out : in;
    args.output = has_result(member) ? out : nullptr;
    args.count = count;
    args.element = sizeof(Word);
    args.kernel = kernel;
    args.by_mpi = &by_mpi;
    args.root = root;
  }

  // The moment a member returns: its result is there, and its buffers are its own again.
  void end(int member) {
    const auto m = static_cast<std::size_t>(member);
    Words& out = output[m];
    const bool all_have_come = begun == members();
    const bool waits_for_all = what == Collective::barrier || what == Collective::allreduce;
    EXPECT_TRUE(all_have_come || !waits_for_all) << "left before the last came: " << shown(member);
    EXPECT_EQ(out[count], kGuard) << "wrote behind the buffer: " << shown(member);
    if (what != Collective::barrier && has_result(member)) {
      const bool scatters = what == Collective::reduce_scatter;
      const auto [first, words] = scatters ? words_of(member) : std::pair(std::size_t{0}, count);
      EXPECT_TRUE(std::equal(out.data(), out.data() + words, expected.data() + first))
          << shown(member);
    }
    std::fill(input[m].begin(), input[m].end(), 0x5c5c5c5c);
    std::fill(out.begin(), out.end(), kLeft);
    ++ended;
  }

  // Once all have returned nobody may have written to anybody.
  void check() const {
    EXPECT_EQ(ended, members());
    for (const Words& out : output) {
      EXPECT_EQ(std::count(out.begin(), out.end(), kLeft), static_cast<long>(count + 1))
          << "written after the return: " << shown(0);
    }
  }

  std::string shown(int member) const {
    const bool native = choice.algorithm == Algorithm::native;
    return std::string(name_of(what)) + ":" + (native ? "native" : info_of(choice.algorithm).name) +
           " of " + std::to_string(count) + (overlaps ? " nonblocking" : " blocking") + " root " +
           std::to_string(root) + ", member " + std::to_string(member) + " of " +
           std::to_string(members());
  }

 private:
  static constexpr Word kGuard = 0xdeadbeef, kLeft = 0x3a3a3a3a;
};

// What a rank does next, with one of the calls of one of the communicators.
struct Step {
  enum class Kind {
    begin,  // nonblocking
    wait,   // for one begun, looking at the queues
    idle,   // for one begun, looking at nothing: somebody else must
    block,  // a blocking call
  };
  Kind kind;
  std::size_t communicator;
  std::size_t call;
};

struct Members {
  std::vector<int> ranks;  // who is in the communicator
  std::deque<Call> calls;

  int member(int rank) const {
    const auto place = std::find(ranks.begin(), ranks.end(), rank);
    return place == ranks.end() ? -1 : static_cast<int>(place - ranks.begin());
  }
};

// All ranks, and some of them in any order. At most `most` communicators.
inline std::deque<Members> random_communicators(int ranks, std::size_t most, Random& random) {
  std::deque<Members> all(1 + below(random, most));
  for (std::size_t c = 0; c < all.size(); ++c) {
    for (int r = 0; r < ranks; ++r) {
      if (c == 0 || random() % 3 != 0) all[c].ranks.push_back(r);
    }
    if (all[c].ranks.size() < 2) all[c].ranks = all[0].ranks;
    if (c > 0) std::shuffle(all[c].ranks.begin(), all[c].ranks.end(), random);
  }
  return all;
}

// The steps of each rank: it makes the calls in the order given by `order` (a communicator for each
// call), and waits now and then for any of those it has begun; at most `most` are open.
inline std::vector<std::deque<Step>> random_programs(int ranks, const std::deque<Members>& all,
                                                     const std::vector<std::size_t>& order,
                                                     std::size_t most, Random& random) {
  std::vector<std::deque<Step>> programs(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    std::deque<Step>& program = programs[static_cast<std::size_t>(r)];
    std::vector<std::size_t> next(all.size());
    std::vector<Step> open;
    const auto wait_for_some = [&](std::size_t left) {
      while (open.size() > left) {
        std::swap(open[below(random, open.size())], open.back());
        open.back().kind = random() % 4 ? Step::Kind::wait : Step::Kind::idle;
        program.push_back(open.back());
        open.pop_back();
      }
    };
    for (const std::size_t c : order) {
      const std::size_t call = next[c]++;
      if (all[c].member(r) < 0) continue;
      const bool overlaps = all[c].calls[call].overlaps;
      program.push_back({overlaps ? Step::Kind::begin : Step::Kind::block, c, call});
      if (overlaps) open.push_back(program.back());
      wait_for_some(random() % 8 ? most : below(random, most));
    }
    wait_for_some(0);
  }
  return programs;
}

}  // namespace sumac::testing
