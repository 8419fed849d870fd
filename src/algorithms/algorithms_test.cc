// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm, 1 to 16 ranks in one process, adversarial interleavings, against a serial fold.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "algorithms/table.h"
#include "algorithms/test_layout.h"
#include "algorithms/test_parts.h"
#include "algorithms/test_world.h"

namespace sumac::testing {
namespace {

using Word = std::uint32_t;
using Words = std::vector<Word>;
constexpr std::size_t kSlot = 512;  // small, so that few bytes make many chunks

// The rows that one group in shared memory can carry out.
std::vector<Algorithm> all_in_a_group() {
  std::vector<Algorithm> all;
  for (const Algorithm algorithm : kAllAlgorithms) {
    if (entry_of(algorithm).start) all.push_back(algorithm);
  }
  return all;
}

// An operation of the program's on elements of three words, which no cache line holds whole.
class FoldOfThree final : public UserFold {
 public:
  static constexpr std::size_t kWords = 3, kBytes = kWords * sizeof(Word);
  void fold(std::byte* output, int ranks, std::size_t count, Source source,
            const void* context) override {
    Words left(count * kWords), right(left.size());
    std::memcpy(left.data(), source(context, 0), count * kBytes);
    for (int r = 1; r < ranks; ++r) {
      std::memcpy(right.data(), source(context, r), count * kBytes);
      const void* both[] = {left.data(), right.data()};
      ordered_kernel(left.data(), both, 2, left.size());
    }
    std::memcpy(output, left.data(), count * kBytes);
  }
} fold_of_three;

constexpr Word kGuard = 0xdeadbeef;

// One collective call: what every rank puts in, gets out, and should get.
struct Call {
  const AlgorithmEntry& entry;
  std::size_t count;
  int root;
  bool in_place, users;
  std::vector<Words> input, output;          // by rank; output has a guard word behind it
  std::vector<std::vector<Part>> parts;      // by rank: how the vector is laid out there
  Words expected;                            // of all that is folded, or of what is broadcast
  std::vector<Words> result_of_all;          // by rank: what its output begins with
  std::vector<MaybeStrided> sent, received;  // by rank: the same as an algorithm is given them
  unsigned strided = 0;  // a bit for inputs and outputs of even and of odd ranks
  std::size_t ended = 0;

  Call(Algorithm a, std::size_t n, int r, bool ip, int ranks, std::mt19937& random)
      : entry(entry_of(a)),
        count(entry.needs == Needs::lines ? std::min(n, kLinesData / sizeof(Word)) : n),
        root(r),
        in_place(ip && (reduces() || gathers())),
        users(reduces() && entry.needs != Needs::single_copy && random() % 2) {
    if (users) count = count / FoldOfThree::kWords * FoldOfThree::kWords;
    n = count;
    const std::size_t words_of_one = users ? FoldOfThree::kWords : 1;
    const auto sizes = part_sizes(n / words_of_one, words_of_one * sizeof(Word), ranks, random);
    for (int rank = 0; rank < ranks; ++rank) {
      Words words(n);
      for (Word& w : words) w = random();
      input.push_back(words);
      input.back().push_back(kGuard);
      output.push_back(Words(n + 1, kGuard));
      parts.push_back(laid_out(sizes, gathers() && random() % 3 == 0));
      const bool starts_filled = (in_place && has_result(rank)) || broadcasts();
      if (starts_filled) std::copy(words.begin(), words.end(), output.back().begin());
    }
    expected = input[broadcasts() ? static_cast<std::size_t>(r) : 0];
    for (int rank = 1; rank < ranks && reduces(); ++rank) {
      for (std::size_t i = 0; i < n; ++i) {
        expected[i] = expected[i] * 31 + input[static_cast<std::size_t>(rank)][i];
      }
    }
    for (std::size_t rank = 0; rank < input.size(); ++rank) result_of_all.push_back(result(rank));
    sent.resize(input.size());
    received.resize(input.size());
    if (entry.needs != Needs::single_copy && !reduces()) strided = random();
  }

  bool broadcasts() const { return entry.collective == Collective::bcast; }
  bool scatters() const { return entry.collective == Collective::reduce_scatter; }
  bool gathers() const { return entry.collective == Collective::allgather; }
  bool reduces() const { return entry.order != Order::none; }
  bool has_result(int rank) const {
    if (entry.collective == Collective::reduce) return rank == root;
    return reduces() || broadcasts() || gathers();
  }

  // What the rank's output begins with.
  Words result(std::size_t rank) const {
    const Part own = parts[rank][rank];
    const auto word = [](std::size_t bytes) { return static_cast<long>(bytes / sizeof(Word)); };
    if (scatters()) {
      const auto begin = expected.begin() + word(own.offset);
      return {begin, begin + word(own.bytes)};
    }
    if (!gathers()) return {expected.begin(), expected.end() - 1};
    Words all(count);
    for (std::size_t r = 0; r < parts.size(); ++r) {
      const auto from = input[r].begin() + word(parts[r][r].offset);
      std::copy(from, from + word(own_bytes(r)), all.begin() + word(parts[rank][r].offset));
    }
    return all;
  }
  std::size_t own_bytes(std::size_t rank) const { return parts[rank][rank].bytes; }

  Task start(Rank& rank) {
    const auto me = static_cast<std::size_t>(rank.group.rank());
    auto* out = reinterpret_cast<std::byte*>(output[me].data());
    const bool here = has_result(rank.group.rank());
    rank.args = CallArguments();
    ReduceArguments& args = rank.args.reduction;
    args.input = in_place && here ? out : reinterpret_cast<const std::byte*>(input[me].data());
    args.output = here ? out : nullptr;
    args.count = count;
    args.element = sizeof(Word);
    args.kernel = ordered_kernel;
    args.root = root;
    if (users) {
      args.user = &fold_of_three;
      args.kernel = nullptr;
      args.count /= FoldOfThree::kWords;
      args.element = args.unit = FoldOfThree::kBytes;
    }
    received[me].begin(out, count * sizeof(Word), strided >> me % 2 & 1);
    rank.args.bcast = {received[me].data(), count * sizeof(Word), root};
    const Parts laid{count * sizeof(Word), rank.group.size(), 0, 0, parts[me].data()};
    rank.args.reduce_scatter = {args, laid};
    auto* in = reinterpret_cast<std::byte*>(input[me].data());
    sent[me].begin(in, count * sizeof(Word), strided >> (2 + me % 2) & 1);
    rank.args.allgather = {(in_place ? received : sent)[me].data() + parts[me][me].offset,
                           received[me].data(), laid};
    return entry.start(rank.strand, rank.group, rank.args, rank.peers);
  }

  // The moment a rank returns: its result is there, and its buffers are its own again.
  void end(Rank& rank) {
    const auto me = static_cast<std::size_t>(rank.group.rank());
    Words& out = output[me];
    received[me].read();
    EXPECT_EQ(out[count], kGuard) << "wrote behind the buffer: " << describe(me);
    if (has_result(rank.group.rank())) {
      const Words want = result_of_all[me];
      EXPECT_TRUE(std::equal(want.begin(), want.end(), out.begin())) << describe(me);
      const auto rest = out.begin() + static_cast<long>(want.size());
      const bool untouched = std::all_of(rest, out.end(), [](Word w) { return w == kGuard; });
      EXPECT_TRUE(in_place || untouched) << "wrote behind the part: " << describe(me);
    } else {
      EXPECT_EQ(std::count(out.begin(), out.end(), kGuard), static_cast<long>(count + 1))
          << "touched a buffer that is not significant: " << describe(me);
    }
    std::fill(input[me].begin(), input[me].end(), 0x5c5c5c5c);
    std::fill(out.begin(), out.end(), 0x3a3a3a3a);
    sent[me].write();
    received[me].write();
    ++ended;
  }

  std::string describe(std::size_t rank) const {
    return std::string(name_of(entry.collective)) + " " + entry.name + " count " +
           std::to_string(count) + " root " + std::to_string(root) + (users ? " user's" : "") +
           " in place " + std::to_string(in_place) + " rank " + std::to_string(rank) + " of " +
           std::to_string(output.size());
  }

  // After all have returned nobody may have written to anybody.
  void check() const {
    EXPECT_EQ(ended, output.size());
    for (const MaybeStrided& data : received) data.read();
    for (const Words& out : output) {
      EXPECT_EQ(std::count(out.begin(), out.end(), 0x3a3a3a3a), static_cast<long>(count + 1))
          << "written after the return: " << describe(0);
    }
  }
};

void run_calls(int ranks, std::vector<Call>& calls, std::mt19937& random, std::size_t ring) {
  World world(ranks, ring, kSlot);
  for (int r = 0; r < ranks; ++r) {
    for (Call& call : calls) {
      world[r].program.push_back({[&call](Rank& rank) { return call.start(rank); },
                                  [&call](Rank& rank) { call.end(rank); }});
    }
  }
  ASSERT_TRUE(world.run(random)) << "ranks wait for one another";
  for (const Call& call : calls) call.check();
}

const std::vector<std::size_t> kCounts = {0,   1,   2,   13,  14,  15,  16,  17,  31,   63,
                                          127, 128, 129, 130, 255, 256, 257, 500, 1000, 2085};

class OneAlgorithm : public ::testing::TestWithParam<Algorithm> {};

// A call of every size around the thresholds, at every root, in place and not, many in a row.
TEST_P(OneAlgorithm, SweepsSizesRootsAndRanks) {
  const Algorithm algorithm = GetParam();
  const Order order = info_of(algorithm).order;
  EXPECT_TRUE(order == Order::rank || order == Order::none) << "what this test wants of the fold";
  std::mt19937 random(12345u + static_cast<unsigned>(algorithm));
  for (int ranks = 1; ranks <= 16; ++ranks) {
    std::vector<Call> calls;
    for (std::size_t count : kCounts) {
      for (bool in_place : {false, true}) {
        const int root = static_cast<int>(random() % static_cast<unsigned>(ranks));
        calls.emplace_back(algorithm, count, root, in_place, ranks, random);
      }
    }
    for (int root = 0; root < ranks; ++root) {
      calls.emplace_back(algorithm, 40, root, false, ranks, random);
    }
    run_calls(ranks, calls, random, 8);
    if (HasFailure()) return;
  }
}

std::string title(const ::testing::TestParamInfo<Algorithm>& info) {
  const AlgorithmEntry& entry = entry_of(info.param);
  return std::string(name_of(entry.collective)) + "_" + entry.name;
}
INSTANTIATE_TEST_SUITE_P(All, OneAlgorithm, ::testing::ValuesIn(all_in_a_group()), title);

// All algorithms in random order on the same slots, no synchronisation between them.
TEST(Algorithms, MixedSequences) {
  const std::vector<Algorithm> all = all_in_a_group();
  for (unsigned seed = 0; seed < 600; ++seed) {
    std::mt19937 random(seed);
    const int ranks = 1 + static_cast<int>(random() % 9);
    std::vector<Call> calls;
    for (int i = 0; i < 40; ++i) {
      const Algorithm algorithm = all[random() % all.size()];
      const std::size_t count = kCounts[random() % kCounts.size()];
      const int root = static_cast<int>(random() % static_cast<unsigned>(ranks));
      calls.emplace_back(algorithm, count, root, random() % 2 == 0, ranks, random);
    }
    run_calls(ranks, calls, random, random() % 2 ? 8 : 4);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
}

void expect_to_hold_all(const AlgorithmEntry& barrier) {
  for (int ranks = 2; ranks <= 16; ++ranks) {
    World world(ranks, 8, kSlot);
    for (int r = 0; r < ranks; ++r) {
      world[r].program.push_back({[&](Rank& rank) {
        return barrier.start(rank.strand, rank.group, rank.args, rank.peers);
      }});
    }
    for (int r = 0; r < ranks - 1; ++r) {
      while (world[r].step()) continue;
      EXPECT_FALSE(world[r].ended());
    }
    std::mt19937 random(1);
    EXPECT_TRUE(world.run(random));
  }
}

// A barrier holds every rank back until the last has come.
TEST(Barrier, NobodyLeavesBeforeTheLastArrives) {
  for (const Algorithm algorithm : all_in_a_group()) {
    if (entry_of(algorithm).collective == Collective::barrier) {
      expect_to_hold_all(entry_of(algorithm));
    }
  }
}

}  // namespace
}  // namespace sumac::testing
