// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm over messages, in one group, adversarial interleavings: results against a serial
// fold, the order of folding against the one that its row names, and the bytes really sent against
// those that it is said to cost.
#include <gtest/gtest.h>

#include <string>

#include "algorithms/table.h"
#include "algorithms/test_layout.h"
#include "algorithms/test_parts.h"
#include "levels/test_levels.h"

namespace sumac::testing {
namespace {

using Word = std::uint32_t;
using Words = std::vector<Word>;

// Associative but not commutative: shows in which order ranks are folded, but not in which tree.
// Words are maps x -> ax + b modulo 2^16, one after the other.
void map_kernel(void* dst, const void* const* srcs, int num_srcs, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Word value = static_cast<const Word*>(srcs[0])[i];
    for (int s = 1; s < num_srcs; ++s) {
      const Word next = static_cast<const Word*>(srcs[s])[i];
      const Word a = (value >> 16) * (next >> 16), b = (value >> 16) * (next & 0xffff) + value;
      value = a << 16 | (b & 0xffff);
    }
    static_cast<Word*>(dst)[i] = value;
  }
}

struct Call {
  const AlgorithmEntry& entry;
  int ranks, root, radix;
  std::size_t count;
  bool in_place;
  std::vector<Words> input, output;          // by rank
  std::vector<std::vector<Part>> parts;      // by rank: how the vector is laid out there
  std::vector<MaybeStrided> sent, received;  // by rank: the same as an algorithm is given them
  unsigned strided = 0;  // a bit for inputs and outputs of even and of odd ranks
  std::vector<CallArguments> args;
  std::vector<MessageGroup> groups;

  Call(const AlgorithmEntry& e, int p, std::mt19937& random)
      : entry(e),
        ranks(p),
        root(static_cast<int>(random() % static_cast<unsigned>(p))),
        radix(2 + static_cast<int>(random() % 6)),
        count(1 + random() % (random() % 3 ? 40 : 2000)),
        in_place((reduces() || gathers()) && random() % 2),
        sent(static_cast<std::size_t>(p)),
        received(static_cast<std::size_t>(p)),
        strided(reduces() ? 0 : random()),
        args(static_cast<std::size_t>(p)),
        groups(static_cast<std::size_t>(p)) {
    if (!info_of(entry.collective).has_root) root = 0;
    const auto sizes = part_sizes(count, sizeof(Word), ranks, random);
    for (int r = 0; r < ranks; ++r) {
      parts.push_back(laid_out(sizes, gathers() && random() % 3 == 0));
      Words words(count);
      for (Word& word : words) word = static_cast<Word>(random());
      const bool filled = broadcasts() ? r == root : in_place && has_result(r);
      output.push_back(filled ? words : Words(count));
      input.push_back(std::move(words));
    }
  }

  bool broadcasts() const { return entry.collective == Collective::bcast; }
  bool scatters() const { return entry.collective == Collective::reduce_scatter; }
  bool gathers() const { return entry.collective == Collective::allgather; }
  bool reduces() const { return entry.order != Order::none; }
  bool has_result(int rank) const { return entry.collective != Collective::reduce || rank == root; }
  std::size_t bytes() const { return count * sizeof(Word); }

  void start(LevelsWorld& world, int r, ReduceFn kernel) {
    LevelsRank& rank = world[r];
    const auto me = static_cast<std::size_t>(r);
    auto* out = reinterpret_cast<std::byte*>(output[me].data());
    const auto* in = reinterpret_cast<const std::byte*>(input[me].data());
    ReduceArguments& reduction = args[me].reduction;
    reduction.input = in_place && has_result(r) ? out : in;
    reduction.output = has_result(r) ? out : nullptr;
    reduction.count = count;
    reduction.element = sizeof(Word);
    reduction.kernel = kernel;
    reduction.root = root;
    sent[me].begin(reinterpret_cast<std::byte*>(input[me].data()), bytes(), strided >> me % 2 & 1);
    received[me].begin(out, bytes(), strided >> (2 + me % 2) & 1);
    args[me].bcast = {received[me].data(), bytes(), root};
    const Parts laid{bytes(), ranks, 0, 0, parts[me].data()};
    args[me].reduce_scatter = {reduction, laid};
    args[me].allgather = {(in_place ? received : sent)[me].data() + parts[me][me].offset,
                          received[me].data(), laid};
    LevelGroup& level = rank.levels[0];
    groups[me] = world.message_group(rank, level.members, level.rank, 0, radix, bytes());
    rank.strands.push_back(std::make_unique<Strand>());
    Strand& strand = *rank.strands.back();
    strand.preempt_at_every_wait(true);
    strand.start(entry.start_sending(strand, groups[me], args[me]));
  }

  // Whose data an element of the vector begins with, in the order that the row names.
  int first_of(std::size_t element) const {
    if (entry.order != Order::rotated) return 0;
    if (entry.collective == Collective::reduce) return root;
    int part = 0;
    const auto is_in = [&](const Part& p) {
      return element * sizeof(Word) >= p.offset && element * sizeof(Word) < p.offset + p.bytes;
    };
    if (scatters()) {
      while (!is_in(parts[0][static_cast<std::size_t>(part)])) ++part;
      return (part + 1) % ranks;
    }
    while (!is_in(part_of(bytes(), ranks, part))) ++part;
    return part;
  }

  Word folded(std::size_t element, ReduceFn kernel) const {
    const int first = first_of(element);
    Word value = input[static_cast<std::size_t>(first)][element];
    for (int i = 1; i < ranks; ++i) {
      const auto next = static_cast<std::size_t>((first + i) % ranks);
      const void* both[] = {&value, &input[next][element]};
      kernel(&value, both, 2, 1);
    }
    return value;
  }

  // The words that the rank's output begins with.
  Words expected(std::size_t rank, ReduceFn kernel) const {
    if (broadcasts()) return input[static_cast<std::size_t>(root)];
    Words words;
    if (gathers()) {
      words.resize(count);
      for (std::size_t r = 0; r < parts.size(); ++r) {
        const Part from = parts[r][r];
        std::memcpy(reinterpret_cast<std::byte*>(words.data()) + parts[rank][r].offset,
                    reinterpret_cast<const std::byte*>(input[r].data()) + from.offset, from.bytes);
      }
      return words;
    }
    const Part own = scatters() ? parts[rank][rank] : Part{0, bytes()};
    for (std::size_t i = 0; i < own.bytes / sizeof(Word); ++i) {
      words.push_back(folded(own.offset / sizeof(Word) + i, kernel));
    }
    return words;
  }

  void expect_results(ReduceFn kernel) const {
    for (int r = 0; r < ranks; ++r) {
      if (!has_result(r)) continue;
      const auto rank = static_cast<std::size_t>(r);
      received[rank].read();
      Words words = output[rank];
      const Words want = expected(rank, kernel);
      if (!scatters() || in_place) words.resize(want.size());
      Words all = want;  // and behind a part nothing
      all.resize(words.size());
      ASSERT_EQ(words, all) << shown() << " rank " << r;
    }
  }

  void expect_cost(const Mailboxes& boxes) const {
    GroupCall call;
    call.ranks = ranks;
    call.root = root;
    call.bytes = bytes();
    call.radix = radix;
    call.element = sizeof(Word);
    call.listed = parts[0].data();
    const Traffic traffic = entry.cost(call);
    EXPECT_TRUE(traffic.cost.known) << shown();
    std::map<std::pair<int, int>, std::size_t> told;
    for (const Message& message : traffic.messages) {
      if (message.bytes) told[{message.from, message.to}] += message.bytes;
    }
    EXPECT_EQ(told, boxes.bytes) << shown();
  }

  std::string shown() const {
    return std::string(name_of(entry.collective)) + ":" + entry.name + " of " +
           std::to_string(count) + " words, " + std::to_string(ranks) + " ranks, root " +
           std::to_string(root) + ", radix " + std::to_string(radix) +
           (in_place ? ", in place" : "");
  }
};

// All ranks in one group, which they reach by messages.
Hierarchy one_group(int ranks) {
  Hierarchy hierarchy;
  hierarchy.levels.resize(1);
  Group group;
  for (int r = 0; r < ranks; ++r) group.members.push_back(r);
  hierarchy.levels[0].groups.push_back(group);
  return hierarchy;
}

// Partial results of partial results: only an order of `rank` has the bits of a serial fold.
ReduceFn kernel_of(const AlgorithmEntry& entry) {
  return entry.order == Order::rank ? tree_kernel : map_kernel;
}

class OverMessages : public ::testing::TestWithParam<Algorithm> {};

TEST_P(OverMessages, ResultsOrderAndCost) {
  const AlgorithmEntry& entry = entry_of(GetParam());
  const ReduceFn kernel = kernel_of(entry);
  for (int ranks = 2; ranks <= 20; ++ranks) {
    for (unsigned seed = 0; seed < 12; ++seed) {
      std::mt19937 random(seed * 100 + static_cast<unsigned>(ranks));
      LevelsWorld world(one_group(ranks), ranks, 1024, seed);
      Call call(entry, ranks, random);
      for (int r = 0; r < ranks; ++r) {
        world[r].program.push_back([&, r] { call.start(world, r, kernel); });
      }
      ASSERT_TRUE(world.run()) << "no rank can go on; " << call.shown();
      call.expect_results(kernel);
      call.expect_cost(world.boxes());
      if (HasFailure()) return;
    }
  }
}

// The MPI's own needs an MPI.
std::vector<Algorithm> all_over_messages() {
  std::vector<Algorithm> all;
  for (const Algorithm algorithm : kAllAlgorithms) {
    const AlgorithmInfo& info = info_of(algorithm);
    if (info.needs == Needs::messages && info.order != Order::of_mpi) all.push_back(algorithm);
  }
  return all;
}

std::string title(const ::testing::TestParamInfo<Algorithm>& info) {
  return std::string(name_of(info_of(info.param).collective)) + "_" + name_of(info.param);
}
INSTANTIATE_TEST_SUITE_P(All, OverMessages, ::testing::ValuesIn(all_over_messages()), title);

}  // namespace
}  // namespace sumac::testing
