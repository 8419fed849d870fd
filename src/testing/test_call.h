// SPDX-License-Identifier: BSD-3-Clause
// One collective call of all ranks on words: this says what each puts in, what it gets out, and
// what it should get.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "algorithms/arguments.h"
#include "base/algorithm.h"
#include "testing/kernels.h"
#include "testing/post_office.h"
#include "testing/strided.h"
#include "testing/test_exchange.h"

namespace sumac::testing {

using Random = std::mt19937;

template <class Bound>
Bound below(Random& random, Bound bound) {
  return static_cast<Bound>(random() % static_cast<std::size_t>(bound));
}

// Returns the collectives with data that go over levels.
inline const std::vector<Collective>& with_data() {
  static const std::vector<Collective> all = [] {
    std::vector<Collective> some;
    for (const CollectiveInfo& info : kCollectives) {
      const auto over_levels = [&](const AlgorithmInfo& algorithm) {
        return algorithm.collective == info.collective && algorithm.needs == Needs::levels;
      };
      const auto& rows = kAlgorithmInfos;
      if (info.has_data && std::any_of(std::begin(rows), std::end(rows), over_levels)) {
        some.push_back(info.collective);
      }
    }
    return some;
  }();
  return all;
}
inline Collective random_collective(Random& random) {
  return with_data()[below(random, with_data().size())];
}

// An element is folded from rank 0 on; in the order of a group that shares memory, which folds more
// than 16 ranks in runs of 8; in a tree that the test does not know, the same for all ranks; or as
// in an algorithm whose row says `rotated`, each part from another rank on.
enum class Fold { from_first, of_group, unknown_tree, rotated };

// A test decides this about a call.
struct CallSetting {
  Collective what = Collective::allreduce;
  std::size_t count = 0;  // words of the whole vector
  int ranks = 1, root = 0;
  bool in_place = false;  // used if the collective has it
  ReduceFn kernel = sum_kernel;
  Fold fold = Fold::from_first;
  // True if the arguments list the parts, of any lengths. Otherwise parts are equal, and the vector
  // is longer if `count` is not a multiple of `ranks`.
  bool lists_parts = true;
  UserFold* user = nullptr;  // folds as `kernel` does, in elements of element_words words
  std::size_t element_words = 1;
};

class TestCall : public CallSetting {
 public:
  std::vector<Words> input, output;      // indexed by rank; a guard word is behind each
  std::vector<std::vector<Part>> parts;  // [rank] how the vector is laid out there
  Exchange exchange;                     // for an alltoall or alltoallv
  unsigned strided = 0;  // a bit each for inputs and outputs of even and odd ranks: they have gaps
  std::string name;      // for messages

  TestCall(const CallSetting& setting, Random& random)
      : CallSetting(setting),
        name(name_of(what)),
        sent_(static_cast<std::size_t>(ranks)),
        received_(static_cast<std::size_t>(ranks)) {
    const auto p = static_cast<std::size_t>(ranks);
    const CollectiveInfo& info = info_of(what);
    if (!info.has_data) count = 0;
    if (takes(ArgumentKind::bcast) || is_all_to_all(what)) in_place = false;
    if (is_all_to_all(what) && info.is_sized) lists_parts = false;
    if (has_parts(what) && !lists_parts) count = div_up(count, p) * p;
    count = count / element_words * element_words;
    std::vector<std::size_t> sizes(p, count / p * sizeof(Word));
    if (lists_parts) {
      sizes = part_sizes(count / element_words, element_words * sizeof(Word), ranks, random);
    }
    for (int rank = 0; rank < ranks; ++rank) {
      parts.push_back(laid_out(sizes, takes(ArgumentKind::allgather) && lists_parts, random));
      Words words(count + 1, kGuard);
      for (std::size_t i = 0; i < count; ++i) words[i] = static_cast<Word>(random());
      const bool filled = takes(ArgumentKind::bcast) || (in_place && has_result(rank));
      output.push_back(filled ? words : Words(count + 1, kGuard));
      input.push_back(std::move(words));
    }
    if (is_all_to_all(what)) {
      exchange = info.is_sized ? equal_exchange(bytes(), ranks)
                               : random_exchange(count, sizeof(Word), ranks, random);
    }
    given_ = input;
    if (info.reduces && fold != Fold::unknown_tree) reduce();
  }

  std::size_t bytes() const { return count * sizeof(Word); }
  bool has_result(int rank) const { return gets_result(what, rank, root); }

  // Returns the arguments of a rank, which begins the call.
  CallArguments arguments(int rank, int radix = 2) {
    ++begun_;
    const auto me = static_cast<std::size_t>(rank);
    sent_[me].begin(bytes_of(input[me]), bytes(), strided >> me % 2 & 1);
    received_[me].begin(bytes_of(output[me]), bytes(), strided >> (2 + me % 2) & 1);
    if (takes(ArgumentKind::bcast)) {
      return BcastArguments{received_[me].data(), bytes(), root, radix};
    }
    if (is_all_to_all(what)) {
      const bool lists = !info_of(what).is_sized;
      return AlltoallArguments{sent_[me].data(), received_[me].data(), exchange.sent(rank, lists),
                               exchange.received(rank, lists), exchange.scratch[me].data()};
    }
    const Parts laid{bytes(), ranks, 1, 0, lists_parts ? parts[me].data() : nullptr};
    if (takes(ArgumentKind::allgather)) {
      const bool from_output = in_place && has_result(rank);
      return AllgatherArguments{(from_output ? received_ : sent_)[me].data() + laid[rank].offset,
                                received_[me].data(), laid, radix};
    }
    ReduceArguments reduction;
    reduction.input = bytes_of(in_place && has_result(rank) ? output[me] : input[me]);
    reduction.output = has_result(rank) ? bytes_of(output[me]) : nullptr;
    reduction.count = count / element_words;
    reduction.element = element_words * sizeof(Word);
    reduction.kernel = user ? nullptr : kernel;
    reduction.user = user;
    if (user) reduction.unit = reduction.element;
    reduction.root = root;
    reduction.radix = radix;
    if (!takes(ArgumentKind::reduce_scatter)) return reduction;
    ReduceScatterArguments scattered{reduction, laid};
    if (in_place) scattered.output += laid[rank].offset;
    return scattered;
  }

  // Must be called once the rank has returned.
  void expect_result(int rank) const {
    const auto me = static_cast<std::size_t>(rank);
    received_[me].read();
    const Words& out = output[me];
    EXPECT_EQ(out[count], kGuard) << "wrote behind the buffer: " << shown(rank);
    const Words want = has_result(rank) ? expected(me) : Words();
    const auto wrong = std::mismatch(want.begin(), want.end(), out.begin());
    EXPECT_EQ(wrong.first, want.end()) << shown(rank) << ", element " << wrong.first - want.begin();
    const auto rest = out.begin() + static_cast<std::ptrdiff_t>(want.size());
    const bool untouched = std::all_of(rest, out.end(), [](Word w) { return w == kGuard; });
    EXPECT_TRUE(untouched || (in_place && has_result(rank)))
        << "wrote what is not the rank's: " << shown(rank);
  }

  // Must be called the moment a rank returns: its result is there, and its buffers are its own
  // again.
  void end(int rank) {
    const bool waits_for_all = what == Collective::barrier || what == Collective::allreduce;
    EXPECT_TRUE(begun_ == ranks || !waits_for_all || (count == 0 && what != Collective::barrier))
        << "left before the last came: " << shown(rank);
    expect_result(rank);
    const auto me = static_cast<std::size_t>(rank);
    std::fill(input[me].begin(), input[me].end(), 0x5c5c5c5c);
    std::fill(output[me].begin(), output[me].end(), kLeft);
    sent_[me].write();
    received_[me].write();
    ++ended_;
  }

  // Must be called once all have ended: nobody may have written to anybody.
  void expect_left_alone() const {
    EXPECT_EQ(ended_, ranks);
    for (std::size_t r = 0; r < output.size(); ++r) {
      received_[r].read();
      EXPECT_EQ(std::count(output[r].begin(), output[r].end(), kLeft), std::ssize(output[r]))
          << "written after the return: " << shown(static_cast<int>(r));
    }
  }

  std::string shown(int rank) const {
    return name + " of " + std::to_string(count) + (user ? ", user's" : "") +
           (in_place ? ", in place" : "") + ", root " + std::to_string(root) + ", rank " +
           std::to_string(rank) + " of " + std::to_string(ranks);
  }

 private:
  bool takes(ArgumentKind arguments) const { return info_of(what).arguments == arguments; }

  static constexpr Word kGuard = 0xdeadbeef, kLeft = 0x3a3a3a3a;

  static std::byte* bytes_of(Words& words) { return reinterpret_cast<std::byte*>(words.data()); }
  // Returns the words of a part of a vector.
  static Words cut(const Words& words, const Part& part) {
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(part.offset / sizeof(Word));
    return {begin, begin + static_cast<std::ptrdiff_t>(part.bytes / sizeof(Word))};
  }

  // Returns what the rank's output begins with.
  Words expected(std::size_t rank) const {
    Words all(given_[static_cast<std::size_t>(root)]);
    all.pop_back();
    if (takes(ArgumentKind::bcast)) return all;
    if (is_all_to_all(what)) {
      std::fill(all.begin(), all.end(), kGuard);
      for (std::size_t r = 0; r < given_.size(); ++r) {
        const Words block = cut(given_[r], exchange.gives[r][rank]);
        const std::size_t place = exchange.gets[rank][r].offset / sizeof(Word);
        std::copy(block.begin(), block.end(), all.begin() + static_cast<std::ptrdiff_t>(place));
      }
      return all;
    }
    if (takes(ArgumentKind::allgather)) {
      for (std::size_t r = 0; r < parts.size(); ++r) {
        const Words part = cut(given_[r], parts[r][r]);
        std::copy(part.begin(), part.end(),
                  all.begin() + static_cast<std::ptrdiff_t>(parts[rank][r].offset / sizeof(Word)));
      }
      return all;
    }
    const Words& result = fold == Fold::unknown_tree ? output[0] : reduced_;
    if (!takes(ArgumentKind::reduce_scatter)) return cut(result, Part{0, bytes()});
    const Part own = parts[rank][rank];
    const Words part = cut(result, own);
    if (!in_place) return part;
    all.assign(given_[rank].begin(), given_[rank].end() - 1);
    std::copy(part.begin(), part.end(),
              all.begin() + static_cast<std::ptrdiff_t>(own.offset / sizeof(Word)));
    return all;
  }
  void reduce() {
    reduced_ = given_[0];
    const auto serially = [&](std::size_t first, std::size_t from, std::size_t words) {
      std::copy_n(given_[first].data() + from, words, reduced_.data() + from);
      for (std::size_t r = 1; r < given_.size(); ++r) {
        const Words& next = given_[(first + r) % given_.size()];
        const void* both[] = {reduced_.data() + from, next.data() + from};
        kernel(reduced_.data() + from, both, 2, words);
      }
    };
    if (fold == Fold::of_group && given_.size() > 16 && !user) return by_runs();
    if (fold != Fold::rotated) return serially(0, 0, count);
    for (std::size_t i = 0; i < count; ++i) serially(first_of(i), i, 1);
  }
  void by_runs() {
    const auto add = [&](Words& sum, const Words& next) {
      const void* both[] = {sum.data(), next.data()};
      kernel(sum.data(), both, 2, count);
    };
    for (std::size_t first = 0; first < given_.size(); first += 8) {
      Words run = given_[first];
      for (std::size_t r = first + 1; r < std::min(first + 8, given_.size()); ++r) {
        add(run, given_[r]);
      }
      if (first == 0) {
        reduced_ = run;
      } else {
        add(reduced_, run);
      }
    }
  }
  // Returns the rank with whose data an element of a rotated fold begins.
  std::size_t first_of(std::size_t element) const {
    if (is_to_root(what)) return static_cast<std::size_t>(root);
    const bool scatters = takes(ArgumentKind::reduce_scatter);
    for (int rank = 0;; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      const Part part = scatters ? parts[0][r] : part_of(bytes(), ranks, rank);
      if (element * sizeof(Word) - part.offset < part.bytes)
        return scatters ? (r + 1) % parts.size() : r;
    }
  }

  std::vector<Words> given_;                   // `input` as it was
  Words reduced_;                              // folded over all ranks
  std::vector<MaybeStrided> sent_, received_;  // [rank] as an algorithm is given them
  std::atomic<int> begun_{0}, ended_{0};
};

}  // namespace sumac::testing
