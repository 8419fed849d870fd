// SPDX-License-Identifier: BSD-3-Clause
// The tests check that what a communicator keeps of its last reduction (SettledReduction) changes
// no decision. Two communicators get the same calls, and one of them forgets what it keeps before
// each call: both must decide alike, for every known pair of type and operation, and in random
// programs whose handles end and come back as others. What is below and beside decide() is in
// settled_below_test.cc.
#include <gtest/gtest.h>

#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "interpose/calls/adapt.h"
#include "interpose/calls/check.h"
#include "interpose/calls/settled_test.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/user_handles.h"

namespace sumac {
namespace {

constexpr CallKind kKinds[] = {
    {Function::allreduce, info_of(Collective::allreduce), Form::blocking, false, nullptr},
    {Function::reduce, info_of(Collective::reduce), Form::blocking, false, nullptr},
    {Function::allreduce, info_of(Collective::allreduce), Form::nonblocking, false, nullptr},
    {Function::reduce, info_of(Collective::reduce), Form::nonblocking, true, nullptr},
    {Function::allreduce, info_of(Collective::allreduce), Form::persistent, false, nullptr},
    {Function::reduce, info_of(Collective::reduce), Form::persistent, false, nullptr}};
constexpr int kOwn = 3;  // handles of the program's of each kind

// A team as its ranks may have agreed on it.
struct TeamIs {
  int size = 2;
  bool may_overlap = true, adapts = false, goes_direct = false;
  Reach reach = Reach::copies;
};

Communicator& make(std::uintptr_t handle, const TeamIs& is) {
  Communicator& c = *find_or_remember({handle});
  c.state = is.size == 1 ? Communicator::State::alone : Communicator::State::together;
  c.rank = 0;
  c.size = is.size;
  Capabilities capabilities;
  capabilities.ranks = is.size;
  capabilities.reach = is.reach;
  c.choices = ChoiceTable(RuleSet(), capabilities, "");
  c.may_overlap = is.may_overlap;
  c.direct_tries.reset();
  if (is.goes_direct) {
    capabilities.reach = Reach::maps;
    c.direct_tries = std::make_unique<DirectTries>(ChoiceTable(RuleSet(), capabilities, ""));
  }
  Trials::Classes classes = {};
  for (std::uint64_t& each : classes) each = is.adapts ? ~std::uint64_t{0} : 0;
  c.trials.open(classes, classes);
  return c;
}

// A call that the program makes again and again.
struct Arguments {
  const CallKind* kind = kKinds;
  std::uintptr_t type = kTypes, op = kOps;
  MpiCount count = 1;
  int root = 0;
  void *send = nullptr, *receive = nullptr;
};

std::byte buffers[2][8];
MpiRequest request{1};

// This keeps a copy of the reduction, since the next look-up may overwrite it.
struct Decided {
  Decision decision;
  std::optional<KnownReduction> reduction;
};

Decided decide_on(std::uintptr_t handle, const Arguments& arguments) {
  Call call{*arguments.kind};
  call.send = {arguments.send, arguments.count, {arguments.type}};
  call.receive = {arguments.receive, arguments.count, {arguments.type}};
  call.op = {arguments.op};
  call.root = arguments.kind->info.has_root ? arguments.root : kNoRoot;
  call.comm = {handle};
  call.request = one(request);
  const Entry entry(call.collective());
  Decided decided{decide(entry, call), std::nullopt};
  if (decided.decision.reduction) decided.reduction = *decided.decision.reduction;
  // All calls of a trial take the same time.
  const Decision& decision = decided.decision;
  if (decision.around & Decision::kTurn && decision.turn.kind == TurnKind::timed) {
    note_turn(call, decision, 1000);
  }
  return decided;
}

void expect_equal(const Decided& kept, const Decided& full) {
  const Decision &a = kept.decision, &b = full.decision;
  EXPECT_EQ(a.way, b.way);
  EXPECT_TRUE(a.way != Decision::Way::hand_down || a.reason == b.reason);
  EXPECT_EQ(a.counts, b.counts);
  EXPECT_EQ(a.by_user, b.by_user);
  EXPECT_EQ(a.error, b.error);
  EXPECT_EQ(a.choice, b.choice);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.around, b.around);
  EXPECT_EQ(a.turn.route, b.turn.route);
  EXPECT_EQ(a.turn.kind, b.turn.kind);
  EXPECT_EQ(a.turn.candidate, b.turn.candidate);
  EXPECT_EQ(a.tries_direct, b.tries_direct);
  EXPECT_EQ(a.direct, b.direct);
  EXPECT_FALSE(b.plain);
  ASSERT_EQ(kept.reduction.has_value(), full.reduction.has_value());
  if (!kept.reduction) return;
  EXPECT_EQ(kept.reduction->kernel, full.reduction->kernel);
  EXPECT_EQ(kept.reduction->op, full.reduction->op);
  EXPECT_EQ(kept.reduction->reduces, full.reduction->reduces);
  EXPECT_EQ(kept.reduction->exact, full.reduction->exact);
  EXPECT_EQ(kept.reduction->type.dtype, full.reduction->type.dtype);
  EXPECT_EQ(kept.reduction->type.extent, full.reduction->type.extent);
}

class Settled : public testing::Test {
 protected:
  void SetUp() override {
    around_decide = {};
    results_checked = 0;
    options = {};
    options.colls = ~decltype(options.colls){0};
    options.adapt = static_cast<int>(Adapt::exact);
    make_both({});
  }
  void TearDown() override { end_both(); }

  void make_both(const TeamIs& is) {
    keeps_ = &make(kKeeps, is);
    forgets_ = &make(kForgets, is);
  }
  static void end_both() {
    free_communicator(kKeeps);
    free_communicator(kForgets);
  }
  // Makes the call on both communicators, and returns true if the first one had it settled.
  bool decide_both(const Arguments& arguments) {
    const Decided kept = decide_on(kKeeps, arguments);
    forgets_->settled = {};
    expect_equal(kept, decide_on(kForgets, arguments));
    return kept.decision.plain;
  }
  static Arguments call_of(std::uintptr_t type, std::uintptr_t op) {
    Arguments arguments;
    arguments.type = type;
    arguments.op = op;
    arguments.send = buffers[0];
    arguments.receive = buffers[1];
    return arguments;
  }

  Communicator *keeps_ = nullptr, *forgets_ = nullptr;
};

TEST_F(Settled, EveryKnownPairWithoutGapsSettles) {
  for (int t = 0; t < kNumDTypes; ++t) {
    for (int o = 0; o <= kNumOps; ++o) {
      const auto dtype = static_cast<DType>(t);
      const auto op = static_cast<Op>(o);
      const Arguments call = call_of(handle_of(dtype), number_of(op));
      SCOPED_TRACE(std::string(name_of(op)) + " of " + name_of(dtype));
      // The process meets the pair in the first call, and the communicator keeps it in the second.
      for (int i = 0; i < 2; ++i) EXPECT_FALSE(decide_both(call));
      const bool settles = op != Op::none && is_defined(op, dtype) && !known_type(dtype).has_gaps();
      EXPECT_EQ(decide_both(call), settles);
      Arguments other = call;
      ++other.count;
      EXPECT_FALSE(decide_both(other)) << "another count";
      EXPECT_FALSE(decide_both(call)) << "only the last one is kept";
    }
  }
}

// The program can free these handles, and the MPI may give them to others.
TEST_F(Settled, HandlesOfTheProgramsNeverSettle) {
  ASSERT_TRUE(tell_op({kOwnOps}, Op::sum));
  ASSERT_TRUE(tell_type({kOwnTypes}, DType::f16));
  const std::uintptr_t f64 = handle_of(DType::f64), sum = kOps;
  for (const auto& [type, op] : {std::pair(f64, kOwnOps), std::pair(kOwnTypes, sum),
                                 std::pair(kOwnTypes, kOwnOps), std::pair(f64, kOwnOps + 1)}) {
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(decide_both(call_of(type, op)));
  }
  forget_op({kOwnOps});
  ASSERT_TRUE(tell_op({kOwnOps}, Op::max));
  EXPECT_EQ(decide_on(kKeeps, call_of(f64, kOwnOps)).reduction->op, Op::max);
  free_type(kOwnTypes);
  EXPECT_FALSE(decide_on(kKeeps, call_of(kOwnTypes, sum)).reduction);
  forget_user_handles();
}

TEST_F(Settled, OneRankAndNoDataNeverSettle) {
  Arguments call = call_of(kTypes, kOps);
  call.count = 0;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(decide_both(call));
  end_both();
  make_both({.size = 1});
  call.count = 1;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(decide_both(call));
}

// A state is used again for another communicator, whose ranks may choose otherwise.
TEST_F(Settled, ItEndsWithTheCommunicator) {
  const Arguments call = call_of(kTypes, kOps);
  for (const int size : {2, 3, 17, 64, 5}) {
    EXPECT_FALSE(decide_both(call)) << size;
    EXPECT_TRUE(decide_both(call)) << size;
    Communicator* const before = keeps_;
    end_both();
    make_both({.size = size});
    EXPECT_TRUE(keeps_ == before || forgets_ == before) << "the state is used again";
  }
}

using Random = std::mt19937;
std::size_t below_of(Random& random, std::size_t n) { return random() % n; }

TeamIs random_team(Random& random) {
  constexpr int kSizes[] = {1, 2, 3, 7, 64};
  constexpr Reach kReaches[] = {Reach::none, Reach::copies, Reach::maps};
  return {kSizes[below_of(random, std::size(kSizes))], random() % 4 != 0, random() % 2 == 0,
          random() % 2 == 0, kReaches[below_of(random, std::size(kReaches))]};
}

// Changes one thing of a call, which may then be wrong.
void change(Arguments& call, Random& random) {
  constexpr MpiCount kCounts[] = {-1, 0, 1, 7, 8, 259, 260, 4096, 1 << 20};
  constexpr DType kSome[] = {DType::f64, DType::i32, DType::f64_i32, DType::u8, DType::c64};
  constexpr Op kSomeOps[] = {Op::sum, Op::max, Op::band, Op::maxloc, Op::none};
  void* const addresses[] = {buffers[0], buffers[1], nullptr, kMpi.in_place};
  switch (below_of(random, 7)) {
    case 0:
      call.kind = &kKinds[below_of(random, std::size(kKinds))];
      break;
    case 1:
      call.type = random() % 3 == 0 ? kOwnTypes + below_of(random, kOwn)
                                    : handle_of(kSome[below_of(random, 5)]);
      break;
    case 2:
      call.op = random() % 3 == 0 ? kOwnOps + below_of(random, kOwn)
                                  : number_of(kSomeOps[below_of(random, 5)]);
      break;
    case 3:
      call.count = kCounts[below_of(random, std::size(kCounts))];
      break;
    case 4:
      call.root = static_cast<int>(below_of(random, 3)) - 1;
      break;
    case 5:
      call.send = addresses[below_of(random, 4)];
      break;
    case 6:
      call.receive = addresses[below_of(random, 4)];
      break;
  }
}

// Ends a handle of the program's, or gives it to another type or operation.
void change_handles(Random& random) {
  const std::uintptr_t type = kOwnTypes + below_of(random, kOwn);
  const std::uintptr_t op = kOwnOps + below_of(random, kOwn);
  switch (below_of(random, 4)) {
    case 0:
      ASSERT_TRUE(tell_type({type}, random() % 2 ? DType::f16 : DType::bf16));
      break;
    case 1:
      if (find_hinted_type({type})) free_type(type);
      break;
    case 2:
      ASSERT_TRUE(tell_op({op}, random() % 2 ? Op::sum : Op::max));
      break;
    case 3:
      forget_op({op});
      break;
  }
}

// Changes what holds for the process.
void change_process(Random& random) {
  switch (below_of(random, 4)) {
    case 0:
      options.progress = static_cast<int>(below_of(random, 3));
      break;
    case 1:
      options.colls ^= decltype(options.colls){1} << static_cast<int>(Collective::reduce);
      break;
    case 2:
      paused_threads = thread_state().pauses = static_cast<int>(below_of(random, 2));
      break;
    case 3:
      around_decide.has_world = random() % 4 != 0;
      break;
  }
}

TEST_F(Settled, RandomProgramsAreDecidedAlike) {
  std::size_t settled = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    around_decide.family = seed % 2 ? Family::mpich : Family::openmpi;
    results_checked = seed % 3 == 0 ? 3 : 0;
    around_decide.promotes = seed % 5 == 0;
    options.reproducible = seed % 7 == 0;
    Arguments call = call_of(handle_of(DType::f64), kOps);
    for (int step = 0; step < 3000 && !HasFailure(); ++step) {
      const std::size_t what = below_of(random, 40);
      if (what < 8) change(call, random);
      if (what == 8) change_handles(random);
      if (what == 9) change_process(random);
      if (what == 10 && step % 3 == 0) {
        end_both();
        make_both(random_team(random));
      }
      if (what == 11 && step % 9 == 0) {  // finalisation; a session may follow
        forget_known_reductions();
        forget_user_handles();
        end_both();
        forget_communicators();
        make_both(random_team(random));
      }
      if (what == 12) call = call_of(handle_of(DType::f64), kOps);
      settled += decide_both(call);
    }
    around_decide.has_world = true;
    paused_threads = thread_state().pauses = 0;
    options.progress = 0;
    options.colls = ~decltype(options.colls){0};
  }
  EXPECT_GT(settled, 5000u) << "the programs repeat their reductions";
}

}  // namespace
}  // namespace sumac
