// SPDX-License-Identifier: BSD-3-Clause
// Many collectives are under way at the same time. All ranks are in one thread, and a scheduler
// stops them at any condition and looks at any of a rank's works at any time, in any order.
// Blocking calls come in between: straight on the group if the queue is empty, and else through it.
// Results are compared with a serial fold.
#include <gtest/gtest.h>

#include "algorithms/table.h"
#include "progress/announced.h"
#include "progress/engine.h"
#include "testing/endpoints.h"
#include "testing/thorough.h"

namespace sumac::testing {
namespace {

constexpr std::size_t kSlot = 512;  // small, so that few bytes make many chunks
// ThreadSanitizer is slow.
#ifdef __SANITIZE_THREAD__
constexpr unsigned kSettings = 1;
constexpr int kStep = 5;
#else
const unsigned kSettings = thorough() ? 4 : 2;
constexpr int kStep = 1;
#endif

struct Setting {
  int ranks = 1;
  std::size_t communicators = 1, ring = 8, calls = 60, most_open = 64, most_words = 2500;
  unsigned blocking = 4;  // one call in so many is blocking
  bool stops = true;      // stop at every condition, whether met or not
  std::vector<Algorithm> among = group_algorithms();
};

// Lets a strand stop at every condition. The strand of a work is otherwise its own business.
void let_stop(const Strand& strand, bool stops) {
  const_cast<Strand&>(strand).preempt_at_every_wait(stops);
}

// One rank has its program, and its part in each communicator.
class Rank {
 public:
  Rank(const Setting& setting, std::deque<Members>& all, std::deque<ProgramStep> program)
      : setting_(setting), all_(all), program_(std::move(program)), endpoints_(all.size()) {
    for (std::size_t c = 0; c < all.size(); ++c) {
      endpoints_[c].works.resize(all[c].calls.size());
      engine_.watch(endpoints_[c].queue, false);
    }
    let_stop(direct_, setting.stops);
  }

  Endpoint& operator[](std::size_t communicator) { return endpoints_[communicator]; }
  bool ended() const { return program_.empty(); }

  // Does one step of the program. Returns false if it must wait.
  bool step() {
    if (ended()) return false;
    const ProgramStep step = program_.front();
    Endpoint& endpoint = endpoints_[step.communicator];
    ProgramCall& call = all_[step.communicator].calls[step.call];
    if (step.kind == ProgramStep::Kind::begin) {
      begin(endpoint, call, endpoint.works[step.call]);
    } else if (step.kind == ProgramStep::Kind::block) {
      if (!block(endpoint, call)) return moved_;
    } else {
      if (!endpoint.works[step.call].ended) return false;
      call.end(endpoint.member);
    }
    program_.pop_front();
    return true;
  }

  // Looks at one queue, all of them, or one work of a queue.
  bool look(Random& random) {
    if (random() % 8 == 0) return engine_.progress();
    Endpoint& endpoint = endpoints_[below(random, endpoints_.size())];
    if (random() % 2) return endpoint.queue.progress();
    std::vector<Work*> begun;
    endpoint.queue.hold([&](const Work* work) {
      for (; work; work = work->next) begun.push_back(const_cast<Work*>(work));
    });
    return !begun.empty() && begun[below(random, begun.size())]->progress();
  }
  bool look_at_all() { return engine_.progress(); }
  bool idle() const { return engine_.idle(); }

 private:
  void begin(Endpoint& endpoint, ProgramCall& call, Work& work) {
    let_stop(work.strand(), setting_.stops);
    endpoint.queue.add(work, call.described(endpoint.member), call.attempt(endpoint.member),
                       endpoint.ranks, call.overlaps);
  }

  // Does what Work::run() does, but step by step. Returns true once the call has ended.
  bool block(Endpoint& endpoint, ProgramCall& call) {
    moved_ = true;
    Work& work = endpoint.blocking;
    switch (state_) {
      case State::none:
        if (endpoint.queue.empty()) {
          blocking_ = call.described(endpoint.member);
          attempt_ = call.attempt(endpoint.member);
          endpoint.ranks.group->announce(announcement_of(blocking_));
          direct_.start(start(endpoint));
          state_ = State::direct;
        } else {
          begin(endpoint, call, work);
          state_ = State::queued;
        }
        return false;
      case State::direct:
        if (!direct_.idle()) moved_ = direct_.progress();
        if (!direct_.idle()) return false;
        break;
      case State::queued:
        moved_ = work.ended;
        if (!work.ended) return false;
    }
    state_ = State::none;
    call.end(endpoint.member);
    return true;
  }

  Task start(Endpoint& endpoint) {
    peers_ = {&endpoint.memory, scratch_.get(), kScratchBytes, &refusals_};
    return start_in_group(direct_, endpoint.group, blocking_, peers_, attempt_);
  }

  const Setting& setting_;
  std::deque<Members>& all_;
  std::deque<ProgramStep> program_;
  std::deque<Endpoint> endpoints_;
  Engine engine_;
  enum class State { none, direct, queued } state_ = State::none;
  Strand direct_;
  ChosenCall blocking_;
  DirectTry attempt_;
  SingleCopy peers_;
  Refusals refusals_;
  // This memory is as large as that of works in the queue, since other ranks may have the same call
  // there.
  std::unique_ptr<std::byte, void (*)(std::byte*)> scratch_{borrow_scratch(), return_scratch};
  bool moved_ = false;
};

// Does one step everywhere and sets `any` if anything moved. Returns true if all ranks have ended.
bool finish(std::deque<Rank>& ranks, bool& any) {
  bool ended = true;
  any = false;
  for (Rank& rank : ranks) {
    any |= rank.look_at_all();
    any |= rank.step();
    ended &= rank.ended() && rank.idle();
  }
  return ended;
}

// Runs all programs. Returns false if all ranks wait for one another.
bool run(std::deque<Rank>& ranks, Random& random) {
  auto favoured = static_cast<unsigned>(random());
  auto looks = 1 + random() % 4;
  std::size_t patience = 0;
  // If a look at a single work has ended it, the queue learns of that in a later look, without
  // having moved.
  for (int fruitless = 0; fruitless < 4;) {
    if (random() % 64 == 0) {
      favoured = static_cast<unsigned>(random());
      looks = 1 + random() % 4;
    }
    const std::size_t r = below(random, ranks.size());
    const bool held_back = (favoured >> r & 1) && random() % 16 != 0;
    if (!held_back && (random() % 4 < looks ? ranks[r].look(random) : ranks[r].step())) {
      patience = 0;
    }
    if (++patience < 100 * ranks.size()) continue;
    bool any;
    if (finish(ranks, any)) return true;
    fruitless = any ? 0 : fruitless + 1;
    if (any) patience = 0;
  }
  return false;
}

void run_setting(const Setting& setting, Random& random) {
  std::deque<Members> all = random_communicators(setting.ranks, setting.communicators, random);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < setting.calls; ++i) {
    order.push_back(below(random, all.size()));
    Members& members = all[order.back()];
    add_group_call(members.calls, static_cast<int>(members.ranks.size()),
                   random() % setting.blocking != 0, setting.most_words, random, setting.among);
  }
  const auto programs = random_programs(setting.ranks, all, order, setting.most_open, random);
  std::deque<Rank> ranks;
  for (const auto& program : programs) ranks.emplace_back(setting, all, program);
  std::deque<TestBlock> blocks;
  for (std::size_t c = 0; c < all.size(); ++c) {
    const std::vector<int>& members = all[c].ranks;
    blocks.emplace_back(static_cast<int>(members.size()), setting.ring, kSlot);
    for (std::size_t m = 0; m < members.size(); ++m) {
      join(ranks[static_cast<std::size_t>(members[m])][c], blocks.back(), static_cast<int>(m));
    }
  }
  ASSERT_TRUE(run(ranks, random)) << "ranks wait for one another";
  for (const Members& members : all) {
    for (const ProgramCall& call : members.calls) call.expect_left_alone();
  }
}

class Overlap : public ::testing::TestWithParam<int> {
 protected:
  void run_many(Setting setting, unsigned seeds) {
    for (unsigned seed = 0; seed < seeds && !HasFailure(); ++seed) {
      Random random(seed * 100 + static_cast<unsigned>(GetParam()));
      setting.ranks = GetParam();
      setting.ring = random() % 2 ? 8 : 4;
      // A rank that is alone never waits, whatever it is stopped for.
      setting.stops = setting.ranks > 1 && random() % 2;
      setting.most_open = 1 + below(random, 64);
      setting.most_words = 1 + below(random, 2500);
      setting.blocking = 1 + static_cast<unsigned>(random() % 12);
      SCOPED_TRACE("seed " + std::to_string(seed));
      run_setting(setting, random);
    }
  }
};

TEST_P(Overlap, ManyOnOneGroup) { run_many(Setting(), 5 * kSettings); }

TEST_P(Overlap, SeveralGroups) {
  Setting setting;
  setting.communicators = 4;
  run_many(setting, 2 * kSettings);
}

// Phases of blocking calls alone, in which the group infers what others have finished, follow on
// phases of overlapping ones: small, so that ranks run as far ahead of each other as they can.
TEST_P(Overlap, SmallOnes) {
  Setting setting;
  setting.calls = 300;
  for (unsigned seed = 0; seed < 3 * kSettings && !HasFailure(); ++seed) {
    Random random(seed);
    setting.ranks = GetParam();
    setting.ring = random() % 2 ? 8 : 4;
    setting.stops = setting.ranks > 1 && random() % 2;
    setting.most_words = 1 + below(random, 100);
    setting.blocking = 1 + static_cast<unsigned>(random() % 3);
    setting.most_open = 1 + below(random, 6);
    SCOPED_TRACE("seed " + std::to_string(seed));
    run_setting(setting, random);
  }
}

// Other ranks have fetched from ranks that look late, and have gone round the ring by then.
TEST_P(Overlap, FetchedRows) {
  Setting setting;
  setting.among = {Algorithm::alltoallv_single_copy, Algorithm::alltoall_single_copy,
                   Algorithm::allgather_single_copy, Algorithm::allreduce_split_slots};
  for (unsigned seed = 0; seed < 3 * kSettings && !HasFailure(); ++seed) {
    Random random(seed);
    setting.ranks = GetParam();
    setting.ring = 4;
    setting.stops = setting.ranks > 1 && random() % 2;
    setting.most_words = 20'000;
    setting.blocking = 12;
    SCOPED_TRACE("seed " + std::to_string(seed));
    run_setting(setting, random);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Overlap, ::testing::Range(1, 17, kStep));

}  // namespace
}  // namespace sumac::testing
