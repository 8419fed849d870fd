// SPDX-License-Identifier: BSD-3-Clause
// The tests run every algorithm with 1 to 33 ranks in one process, interleave the ranks
// adversarially, and compare the results with a serial fold in the group's order.
#include <gtest/gtest.h>

#include <deque>
#include <set>
#include <string>
#include <vector>

#include "algorithms/direct.h"
#include "algorithms/table.h"
#include "rules/rules.h"
#include "testing/group_world.h"
#include "testing/test_call.h"

namespace sumac::testing {
namespace {

constexpr std::size_t kSlot = 512;  // small, so that few bytes make many chunks
constexpr std::size_t kSmallPage = 128;

// Returns the rows that one group in shared memory can carry out.
std::vector<Algorithm> all_in_a_group() {
  std::vector<Algorithm> all;
  for (const Algorithm algorithm : kAllAlgorithms) {
    const AlgorithmEntry& entry = entry_of(algorithm);
    if (entry.start || entry.start_direct) all.push_back(algorithm);
  }
  return all;
}

// This is an operation of the program's, on elements of three words, which no cache line holds
// whole.
class FoldOfThree final : public UserFold {
 public:
  explicit FoldOfThree(ReduceFn kernel) : kernel_(kernel) {}
  static constexpr std::size_t kWords = 3, kBytes = kWords * sizeof(Word);
  void fold(std::byte* output, int ranks, std::size_t count, Source source,
            const void* context) override {
    Words left(count * kWords), right(left.size());
    std::memcpy(left.data(), source(context, 0), count * kBytes);
    for (int r = 1; r < ranks; ++r) {
      std::memcpy(right.data(), source(context, r), count * kBytes);
      const void* both[] = {left.data(), right.data()};
      kernel_(left.data(), both, 2, left.size());
    }
    std::memcpy(output, left.data(), count * kBytes);
  }

 private:
  ReduceFn kernel_;
} trees_of_three(tree_kernel), maps_of_three(map_kernel);

// Returns an algorithm that takes over from a direct one: it folds in the same order.
Algorithm other_than(const AlgorithmEntry& entry, Random& random) {
  std::vector<Algorithm> others;
  for (const Algorithm other : kAllAlgorithms) {
    const AlgorithmEntry& candidate = entry_of(other);
    const bool of_any_size = candidate.start && candidate.needs != Needs::lines;
    if (of_any_size && candidate.collective == entry.collective && candidate.order == entry.order) {
      others.push_back(other);
    }
  }
  return others[random() % others.size()];
}

// This is a call by an algorithm, of at most `count` words, and sometimes with an operation of the
// program's or data with gaps.
struct Call : TestCall {
  const AlgorithmEntry& entry;
  const int radix;
  DirectTry attempt;       // used if the algorithm is direct
  int unmapped = -1;       // the rank whose buffers are then not mapped, if any
  std::vector<bool> went;  // indexed by rank; set when the rank has ended
  std::vector<LocalPeerMemory::Range> whole_pages;  // those of buffers of ranks that have begun

  Call(Algorithm a, std::size_t words, int r, bool ip, int p, Random& random)
      : TestCall(setting_of(entry_of(a), words, r, ip, p, random), random),
        entry(entry_of(a)),
        radix(2 + below(random, 7)) {
    name = std::string(name_of(what)) + ":" + entry.name;
    if (entry.needs == Needs::maps) {
      attempt = {a, other_than(entry, random), kSmallPage};
      if (random() % 4 == 0) unmapped = below(random, p);
    } else if (entry.order == Order::none) {
      const TakesGaps takes = takes_gaps(entry, true);
      const bool receives = takes.received && (takes.sent || !in_place);
      strided = static_cast<unsigned>(random()) & ((takes.sent ? 3u : 0) | (receives ? 12u : 0));
    }
  }
  Task start(Rank& rank) {
    rank.args = arguments(rank.group.rank(), radix);
    if (entry.start) return entry.start(rank.strand, rank.group, rank.args, rank.peers);
    rank.direct = attempt;
    rank.direct.mapped = rank.group.rank() != unmapped;
    rank.peers.streams = kCanStream && count % 2;
    note_whole_pages(rank.group.rank(), rank.args);
    rank.memory.shown = &whole_pages;
    return try_direct(rank.strand, rank.group, what, rank.args, rank.peers, rank.direct);
  }
  void note_whole_pages(int rank, const CallArguments& args) {
    const ReachedMemory memory = reached_memory(rank, what, args);
    for (const ReachedMemory::Buffer& buffer : {memory.input, memory.output}) {
      const auto begin = reinterpret_cast<std::uintptr_t>(buffer.address);
      whole_pages.push_back(
          {round_up(begin, kSmallPage), (begin + buffer.bytes) / kSmallPage * kSmallPage});
    }
  }
  // Expects that all ranks went the same way: direct if all can and whole pages are most of the
  // data.
  void end_direct(const Rank& rank) {
    if (entry.start) return;
    EXPECT_FALSE(rank.memory.strayed) << name;
    went.push_back(rank.direct.went);
    EXPECT_EQ(went.front(), went.back()) << name;
    if (unmapped >= 0) {
      EXPECT_FALSE(rank.direct.went) << name;
    }
    const std::size_t least =
        info_of(what).arguments == ArgumentKind::allgather ? 0 : 6 * kSmallPage;
    if (unmapped < 0 && least > 0 && count * sizeof(Word) > least) {
      EXPECT_TRUE(rank.direct.went) << name << " of " << count << " words";
    }
  }

 private:
  static CallSetting setting_of(const AlgorithmEntry& e, std::size_t words, int r, bool ip, int p,
                                Random& random) {
    CallSetting setting;
    setting.what = e.collective;
    setting.count = e.needs == Needs::lines ? std::min(words, kLinesData / sizeof(Word)) : words;
    setting.ranks = p;
    setting.root = r;
    setting.in_place = ip;
    setting.kernel = kernel_showing(e.order);
    setting.fold = Fold::of_group;
    const bool reduces = e.order != Order::none;
    if (reduces && (e.needs == Needs::lines || e.needs == Needs::slots) && random() % 2) {
      setting.user = e.order == Order::rank ? &trees_of_three : &maps_of_three;
      setting.element_words = FoldOfThree::kWords;
    }
    return setting;
  }
};

void run_calls(int ranks, std::deque<Call>& calls, Random& random, std::size_t ring,
               std::size_t slot = kSlot) {
  World world(ranks, ring, slot, static_cast<Control>(below(random, 3)));
  for (int r = 0; r < ranks; ++r) {
    for (Call& call : calls) {
      world[r].program.push_back({[&call](Rank& rank) { return call.start(rank); },
                                  [&call](Rank& rank) {
                                    call.end_direct(rank);
                                    call.end(rank.group.rank());
                                  }});
    }
  }
  ASSERT_TRUE(world.run(random)) << "ranks wait for one another";
  for (const Call& call : calls) call.expect_left_alone();
}

const std::vector<std::size_t> kCounts = {0,   1,   2,    13,   14,   15,  16,  17,
                                          31,  63,  127,  128,  129,  130, 255, 256,
                                          257, 500, 1000, 2085, 5000, 9000};

class OneAlgorithm : public ::testing::TestWithParam<Algorithm> {};

// Makes calls of every size around the thresholds, at every root, in place and not, many in a row.
TEST_P(OneAlgorithm, SweepsSizesRootsAndRanks) {
  const Algorithm algorithm = GetParam();
  Random random(12345u + static_cast<unsigned>(algorithm));
  // More than 16 ranks are folded in runs of 8, of which the last may be shorter.
  for (int ranks = 1; ranks <= 33; ranks += ranks < 17 ? 1 : 4) {
    std::deque<Call> calls;
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

// All algorithms run in random order on the same slots, with no synchronisation between them.
TEST(Algorithms, MixedSequences) {
  const std::vector<Algorithm> all = all_in_a_group();
  for (unsigned seed = 0; seed < 600; ++seed) {
    Random random(seed);
    const int ranks = 1 + static_cast<int>(random() % 9);
    std::deque<Call> calls;
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

// Adds what the shipped rules choose in such a group, at any size, with what may take its place in
// a trial.
void add_candidates(const Capabilities& group, Collective collective, std::set<Algorithm>& all) {
  const ChoiceTable table({}, group, "");
  for (std::size_t bytes = 1; bytes < std::size_t{1} << 26; bytes *= 2) {
    const Choice& chosen = table.choose(collective, bytes);
    all.insert(chosen.algorithm);
    for (const Choice& next : next_choices({}, group, collective, bytes, chosen, SIZE_MAX)) {
      all.insert(next.algorithm);
    }
  }
}

// Returns all candidates in one group of so many ranks, on any machine.
std::set<Algorithm> candidates_of(int ranks, Collective collective) {
  std::set<Algorithm> all;
  Capabilities group;
  group.ranks = ranks;
  for (const Room room : {Room::own, Room::shared, Room::spare}) {
    group.oversubscribed = room == Room::shared;
    group.spare = room == Room::spare;
    for (const Reach reach : {Reach::none, Reach::copies}) {
      group.reach = reach;
      for (const Distance distance : {Distance::sibling, Distance::near, Distance::far}) {
        group.measured.distance = distance;
        for (const Attach attach : {Attach::fast, Attach::slow}) {
          group.measured.attach = attach;
          add_candidates(group, collective, all);
        }
      }
    }
  }
  all.erase(Algorithm::native);
  return all;
}

// A trial may change the algorithm at any call: all candidates give the bits of the group's order.
TEST(Algorithms, CandidatesOfTrialsGiveTheSameBits) {
  std::set<Algorithm> seen;
  for (int ranks = 2; ranks <= 33; ++ranks) {
    Random random(static_cast<unsigned>(ranks));
    std::deque<Call> calls;
    for (const CollectiveInfo& info : kCollectives) {
      if (!is_of_ranks(info.collective)) continue;
      const std::set<Algorithm> candidates = candidates_of(ranks, info.collective);
      seen.insert(candidates.begin(), candidates.end());
      for (int i = 0; i < 2; ++i) {
        const std::size_t count = kCounts[random() % (kCounts.size() - 4)];
        const int root = below(random, ranks);
        const bool in_place = random() % 2;
        for (const Algorithm algorithm : candidates) {
          calls.emplace_back(algorithm, count, root, in_place, ranks, random);
        }
      }
    }
    run_calls(ranks, calls, random, 8);
    ASSERT_FALSE(HasFailure()) << ranks << " ranks";
  }
  // None of a shipped rule is left out.
  for (const Rule& rule : shipped_rules().rules) {
    const Algorithm algorithm = rule.choice.algorithm;
    if (rule.over != Over::shm || algorithm == Algorithm::native) continue;
    if (info_of(algorithm).needs == Needs::maps) continue;
    EXPECT_TRUE(seen.count(algorithm)) << info_of(algorithm).name;
  }
}

// Returns the words of ranks [first, first + length), folded as a tree of runs does it.
Word folded_run(const std::vector<Words>& input, std::size_t i, int first, int length, int radix) {
  const int ranks = static_cast<int>(input.size());
  if (length == 1) return input[static_cast<std::size_t>(first)][i];
  const int step = length / radix;
  Word value = folded_run(input, i, first, step, radix);
  for (int at = first + step; at < std::min(ranks, first + length); at += step) {
    const Word next = folded_run(input, i, at, step, radix);
    const void* both[] = {&value, &next};
    tree_kernel(&value, both, 2, 1);
  }
  return value;
}

// The tree is the same, whatever the root and the size.
TEST(Algorithms, TreesFoldRunsOfNeighbours) {
  for (const Algorithm algorithm : {Algorithm::reduce_tree, Algorithm::allreduce_tree}) {
    const AlgorithmEntry& entry = entry_of(algorithm);
    for (int ranks = 1; ranks <= 29; ++ranks) {
      Random random(static_cast<unsigned>(ranks));
      CallSetting setting;
      setting.what = entry.collective;
      setting.ranks = ranks;
      setting.root = below(random, ranks);
      setting.kernel = tree_kernel;
      setting.fold = Fold::unknown_tree;
      setting.count = 1 + below(random, random() % 2 ? 10u : 1000u);
      const int radix = 2 + below(random, 9);
      TestCall call(setting, random);
      World world(ranks, 4, kSlot, static_cast<Control>(ranks % 3));
      for (int r = 0; r < ranks; ++r) {
        world[r].program.push_back({[&](Rank& rank) {
          rank.args = call.arguments(rank.group.rank(), radix);
          return entry.start(rank.strand, rank.group, rank.args, rank.peers);
        }});
      }
      ASSERT_TRUE(world.run(random));
      int all = 1;
      while (all < ranks) all *= radix;
      const int root = is_to_root(entry.collective) ? setting.root : ranks / 2;
      for (std::size_t i = 0; i < call.count; ++i) {
        ASSERT_EQ(call.output[static_cast<std::size_t>(root)][i],
                  folded_run(call.input, i, 0, all, radix))
            << entry.name << ", " << ranks << " ranks, radix " << radix << ", element " << i;
      }
    }
  }
}

// The ranks tell each other where blocks are, which fills more than a slot.
TEST(Algorithms, AlltoallvOfManyRanksThroughSmallSlots) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const int ranks = 7 + static_cast<int>(random() % 20);
    std::deque<Call> calls;
    for (const std::size_t count : {0, 3, 40, 600, 2000}) {
      calls.emplace_back(Algorithm::alltoallv_slots, count, 0, false, ranks, random);
    }
    run_calls(ranks, calls, random, 8, kFalseSharingRange);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
}

// Runs `calls` of `words` words first on the rank that needs nothing from the others (the root of a
// broadcast, or a rank that gives its data to a reduce), and only then on the others.
void expect_to_go_ahead(Algorithm algorithm, int calls, std::size_t words, Control control) {
  const AlgorithmEntry& entry = entry_of(algorithm);
  Random random(static_cast<unsigned>(calls));
  const int ranks = 3, root = 1, ahead = is_from_root(entry.collective) ? root : 2;
  std::deque<Call> all;
  for (int i = 0; i < calls; ++i) all.emplace_back(algorithm, words, root, false, ranks, random);
  World world(ranks, Layout().ring, Layout().slot_bytes, control);
  for (int r = 0; r < ranks; ++r) {
    for (Call& call : all) {
      world[r].program.push_back({[&call](Rank& rank) { return call.start(rank); },
                                  [&call](Rank& rank) { call.end(rank.group.rank()); }});
    }
  }
  while (world[ahead].step()) continue;
  EXPECT_TRUE(world[ahead].ended()) << entry.name << ": " << world[ahead].next << " of " << calls
                                    << " calls of " << words << " words";
  EXPECT_TRUE(world.run(random));
}

TEST(Algorithms, WhoNeedsNothingOfOthersGoesAhead) {
  for (const Control control : {Control::slot, Control::slab, Control::staggered}) {
    for (const Algorithm algorithm : {Algorithm::bcast_lines, Algorithm::bcast_slots,
                                      Algorithm::reduce_flat_lines, Algorithm::reduce_flat_slots}) {
      const bool lines = entry_of(algorithm).needs == Needs::lines;
      const std::size_t words = 64 * 1024 / sizeof(Word);
      for (std::size_t each = 1; each <= words; each += 1 + each / 3) {
        if (lines && each * sizeof(Word) > kLinesData) break;
        const std::size_t most = each * sizeof(Word) <= kLineData ? 256 : words / each;
        const int calls = static_cast<int>(std::min<std::size_t>(most, 256));
        expect_to_go_ahead(algorithm, calls, each, control);
        if (HasFailure()) return;
      }
    }
  }
}

void expect_to_hold_all(const AlgorithmEntry& barrier) {
  for (int ranks = 2; ranks <= 33; ++ranks) {
    World world(ranks, 8, kSlot, Control::slot);
    for (int r = 0; r < ranks; ++r) {
      world[r].program.push_back({[&](Rank& rank) {
        return barrier.start(rank.strand, rank.group, rank.args, rank.peers);
      }});
    }
    for (int r = 0; r < ranks - 1; ++r) {
      while (world[r].step()) continue;
      EXPECT_FALSE(world[r].ended());
    }
    Random random(1);
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
