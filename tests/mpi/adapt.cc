// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_ADAPT: which calls are trials and how those after them go, the same on all ranks; and right
// results throughout. A root for which a rank comes late to the turns of all candidates but one
// decides which is kept. In which calls the turns are, comparison_test.cc and trials_test.cc check.
//   adapt exact|all|none      every collective: what is tried with that value; none: nothing
//   adapt random CALLS SEED   with SUMAC_ADAPT=all: mixed calls of all forms on two communicators
//   adapt again               calls until a class is looked at again
//   adapt opposite            communicators learn opposite things, and are merged and split
#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "adapt_calls.h"

namespace {

using namespace test;

constexpr std::size_t kTurns = 16;  // the most of one candidate, but for a row
constexpr std::size_t kRow = 8;     // calls in a row of the MPI, if it is the fastest
constexpr std::size_t kMostTurns = 4 * kTurns + 1 + 2 * kRow;  // of four, with the MPI's warm-up
constexpr std::size_t kBetween = 1 << 14;  // calls between the first two comparisons

// Returns how many calls of a class come before the turns of so many candidates, the MPI's warm-up
// included. They pay for these turns (comparison.h).
constexpr std::size_t calls_before(std::size_t candidates, bool with_mpi) {
  return 20 * (6 * (candidates - 1) + (with_mpi ? 7 : 0));
}
constexpr std::size_t kLeastBefore = calls_before(2, false), kMostBefore = calls_before(4, true);

// All ranks' calls were served alike.
void expect_same_everywhere(const Seen& seen, const char* what) {
  std::vector<Way> first = seen.calls;
  native().Bcast(first.data(), static_cast<int>(first.size() * sizeof(Way)), MPI_BYTE, 0,
                 MPI_COMM_WORLD);
  CHECK(first == seen.calls, "%s: %s", what, seen.text().c_str());
}

// All ranks say the same.
void expect_same_everywhere(const std::string& own, const char* what) {
  std::uint64_t first = std::hash<std::string>()(own);
  native().Bcast(&first, sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
  CHECK(first == std::hash<std::string>()(own), "%s: %s", what, own.c_str());
}

enum class Tried { nothing, own, all };

// What holds of the calls of a class, of which at most one trial was made and which may have ended
// in the middle of it. `alone`: there are no classes beside it that it might follow.
void expect_one_trial(const Seen& seen, Tried tried, bool alone, const char* what) {
  const std::string text = seen.text();
  const std::size_t others = seen.count(Way::other), timed = seen.count(Way::mpi_timed);
  const auto expect = [&](bool holds, const char* that) {
    CHECK(holds, "%s: %s; %s", what, that, text.c_str());
  };
  expect(seen.count(Way::unknown) == 0, "each call is served for a known reason");
  const std::size_t first = std::min(kLeastBefore, seen.calls.size());
  expect(timed == seen.count(Way::mpi_timed, first), "nothing is timed before");
  expect(!alone || (seen.alike(0) >= first && seen.calls[0] == Way::rules),
         "the first calls go by the rules");
  expect(timed <= kTurns + 1 + kRow, "the MPI has no more than its turns");
  expect(!alone || seen.count(Way::mpi_kept) == 0 || timed >= 3 + kRow,
         "the MPI is kept after its turns");
  if (tried != Tried::all) {
    expect(timed + seen.count(Way::mpi_kept) == 0, "the MPI is not tried");
    expect(tried == Tried::own || others == 0, "Sumac's others are tried only where they may be");
  }
  if (!alone || seen.calls.size() < kMostBefore + kMostTurns) return;
  expect(tried != Tried::all || timed >= 3, "the MPI has had its turns");
  expect(others != 1, "each of Sumac's others has had two turns");
}

void one_class(const Kind& kind, std::size_t count, Tried tried) {
  const char* name = name_of(kind.what);
  step("%s of %zu", name, count);
  const OwnComm own;
  Caller caller(own.comm);
  Seen seen;
  for (std::size_t i = 0; i < kMostBefore + kMostTurns + 5; ++i) caller.call(kind, count, seen);
  expect_same_everywhere(seen, name);
  if (!seen.all(Way::mpi_by_rules)) expect_one_trial(seen, tried, true, name);
}

// The order of the first round by the number of candidates. The call before it warms the MPI up.
constexpr std::string_view kFirstRound[] = {"ABBA", "ABCCBA", "ABCDBCDA"};
constexpr std::size_t kLateCount = 2;  // ints, which are reduced to rank 0

// Returns which call is the first turn of so many candidates, of which the MPI is one.
std::size_t first_turn(std::size_t candidates) { return calls_before(candidates, true) + 1; }

// Makes calls of a class whose trials a late rank influences: always to rank 0.
const Kind& late_kind() { return kinds()[2]; }
Way reduce_to_first(Caller& caller, Seen& seen) {
  caller.seed = static_cast<std::size_t>(caller.group.size()) * (seen.calls.size() + 1) - 1;
  return caller.call(late_kind(), kLateCount, seen);
}
std::string reduce_deferred(Caller& caller, Form form) {
  caller.seed = static_cast<std::size_t>(caller.group.size()) - 1;
  return caller.call_deferred(late_kind(), kLateCount, form);
}

// Returns the paths of the candidates, in their order.
std::vector<std::string> candidates(MPI_Comm comm) {
  step("candidates");
  Caller caller(comm);
  Seen seen;
  while (seen.calls.size() < kMostBefore + 1 && reduce_to_first(caller, seen) != Way::mpi_timed) {
  }
  const std::size_t begin = seen.calls.size();
  std::vector<std::string> found;
  for (std::size_t i = begin; i < begin + 4; ++i) {
    reduce_to_first(caller, seen);
    if (std::find(found.begin(), found.end(), seen.paths[i]) != found.end()) break;
    found.push_back(seen.paths[i]);
  }
  CHECK(found.size() >= 2 && found.back() == "MPI", "%s", seen.text().c_str());
  CHECK(begin == first_turn(found.size()), "%s", seen.text().c_str());
  return found;
}

// Makes a call to which the last rank may be late, so that the root waits for it.
void reduce_late(Caller& caller, bool is_late, Seen& seen) {
  if (is_late && caller.group.rank == caller.group.size() - 1) usleep(100000);
  reduce_to_first(caller, seen);
}

// The last rank is late to the turns of all candidates but one, and to the row before the MPI's.
// They are taken for slow and dropped after a round, and the one is kept. Returns false if that one
// was as slow, on a machine that was busy.
bool teach(Caller& caller, const std::vector<std::string>& paths, std::size_t fast, Seen& seen) {
  step("late to all but %s", paths[fast].c_str());
  const std::string_view order = kFirstRound[paths.size() - 2];
  while (seen.calls.size() < first_turn(paths.size())) reduce_to_first(caller, seen);
  for (const char each : order) {
    const auto turn = static_cast<std::size_t>(each - 'A');
    reduce_late(caller, turn != fast, seen);
    CHECK(seen.paths.back() == paths[turn], "%s", seen.text().c_str());
  }
  const bool is_mpi = fast + 1 == paths.size();
  for (std::size_t i = 0; is_mpi && i < 2 * kRow; ++i) reduce_late(caller, i < kRow, seen);
  const std::size_t end = seen.calls.size();
  for (int i = 0; i < 5; ++i) reduce_to_first(caller, seen);
  const Way kept = is_mpi ? Way::mpi_kept : fast == 0 ? Way::rules : Way::other;
  return seen.calls.back() == kept && seen.paths.back() == paths[fast] && seen.is_alike(end);
}

void late_to_root(const std::vector<std::string>& paths, std::size_t fast) {
  OwnComm own;
  Caller caller(own.comm);
  Seen seen;
  CHECK(teach(caller, paths, fast, seen), "%s: %s", step_text, seen.text().c_str());
  const Way kept = seen.calls.back();
  // What is not waited for at once goes the same way, but never by the MPI where Sumac may serve
  // it.
  for (const Form form : {Form::nonblocking, Form::persistent}) {
    const std::string how = reduce_deferred(caller, form);
    expect_same_everywhere(how, step_text);
    CHECK(how == "MPI" || kept == Way::mpi_kept || how == paths[fast], "'%s'", how.c_str());
  }
  // What shares the class and is not exact stays, and sizes that are not beside it know nothing of
  // it.
  const double given = 1;
  double sum = 0;
  MPI_Reduce(&given, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, own.comm);
  CHECK(seen.add() == Way::rules, "'%s'", path());
  CHECK(rank != 0 || sum == ranks, "%g", sum);
  Seen larger;
  CHECK(caller.call(late_kind(), 8, larger) == Way::rules, "'%s'", path());
  own.renew();
  Caller renewed(own.comm);
  CHECK(reduce_to_first(renewed, seen) == kept && seen.paths.back() == paths[fast], "'%s'", path());
}

// Expects that all ranks of a new communicator make a first call alike. Returns its path.
std::string first_path(MPI_Comm comm) {
  Caller caller(comm);
  Seen seen;
  reduce_to_first(caller, seen);
  std::string own = seen.paths.back();
  std::uint64_t first = std::hash<std::string>()(own);
  native().Bcast(&first, sizeof first, MPI_BYTE, 0, comm);
  CHECK(first == std::hash<std::string>()(own), "%s: %s", step_text, own.c_str());
  return own;
}

// Makes communicators by make(communicator) until one has learnt what it is taught.
template <class Make>
MPI_Comm make_taught(const std::vector<std::string>& paths, std::size_t fast, Make make) {
  for (int left = 8; left > 0; --left) {
    MPI_Comm made;
    make(&made);
    Caller caller(made);
    Seen seen;
    if (teach(caller, paths, fast, seen)) return made;
    OwnComm::used().push_back(made);
  }
  CHECK(false, "%s: it was never learnt", step_text);
  return MPI_COMM_SELF;
}

// What was learnt stays with the ranks that learnt it together, in their order: a communicator of
// others begins with nothing, and one of the same ranks with what one of theirs has learnt, the
// same one on all of them.
void opposite() {
  const auto dup = [](MPI_Comm* made) { MPI_Comm_dup(MPI_COMM_WORLD, made); };
  const bool is_upper = rank >= ranks / 2;
  const auto split = [&](MPI_Comm* made) { MPI_Comm_split(MPI_COMM_WORLD, is_upper, rank, made); };
  const OwnComm own;
  const std::vector<std::string> paths = candidates(own.comm);
  const std::size_t mpi = paths.size() - 1, other = paths.size() - 2;
  MPI_Comm first = make_taught(paths, mpi, dup), second = make_taught(paths, other, dup);
  step("two, and two again");
  MPI_Comm_free(&first);
  MPI_Comm_free(&second);
  dup(&first);
  dup(&second);
  const std::string kept[] = {first_path(first), first_path(second)};
  CHECK(kept[0] != kept[1], "'%s'", kept[0].c_str());
  for (const std::string& each : kept) {
    CHECK(each == paths[mpi] || each == paths[other], "'%s'", each.c_str());
  }
  step("split");
  MPI_Comm turned, half, between, merged;
  MPI_Comm_split(first, 0, -rank, &turned);
  CHECK(first_path(turned) == paths[0], "'%s'", path());
  split(&half);
  if (ranks >= 4) {  // in halves of one rank nothing is learnt
    const std::vector<std::string> of_half = candidates(half);
    MPI_Comm fresh;
    split(&fresh);
    CHECK(first_path(fresh) == of_half[0], "'%s'", path());
    OwnComm::used().push_back(half);  // what it has learnt is not for the next one
    half = make_taught(of_half, of_half.size() - (is_upper ? 1 : 2), split);
    MPI_Comm_free(&fresh);
  }
  step("merged");
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_upper ? 0 : ranks / 2, 7, &between);
  MPI_Intercomm_merge(between, is_upper, &merged);
  // These are all ranks in their order, but none of the communicators that have ended was theirs.
  CHECK(first_path(merged) == paths[0], "'%s'", path());
  for (MPI_Comm* each : {&first, &second, &turned, &half, &between, &merged}) MPI_Comm_free(each);
}

void every_collective(const std::string& mode) {
  for (const Kind& kind : kinds()) {
    const bool rounds = &kind.numbers == &doubles() && mode == "exact";
    const bool never = kind.what == What::alltoallv || mode == "none";
    for (const std::size_t count : {1, 300}) {
      one_class(kind, count, never ? Tried::nothing : rounds ? Tried::own : Tried::all);
    }
  }
  if (mode != "exact") return;
  const OwnComm own;
  const std::vector<std::string> paths = candidates(own.comm);
  CHECK(paths.size() >= 3, "%zu candidates", paths.size());
  for (std::size_t fast = 0; fast < paths.size(); ++fast) late_to_root(paths, fast);
}

struct Drawn {
  Seen seen;
  Tried tried = Tried::all;
  std::string what, deferred;  // the paths of nonblocking and persistent calls
};

void random_calls(int calls, std::uint64_t seed) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  Caller callers[2] = {Caller(MPI_COMM_WORLD), Caller(half)};
  std::map<std::tuple<int, What, int>, Drawn> classes;
  Random shared(seed), own(seed * 1000 + static_cast<std::uint64_t>(rank));
  for (int i = 0; i < calls; ++i) {
    const auto which = static_cast<int>(shared.below(4) == 0);
    const Kind& kind = kinds()[shared.below(kinds().size())];
    const std::size_t count = std::array{1, 40, 3000}[shared.below(3)];
    step("call %d: %s of %zu", i, name_of(kind.what), count);
    if (own.below(64) == 0) usleep(static_cast<useconds_t>(own.below(200)));
    Caller& caller = callers[which];
    const std::size_t bytes = caller.bytes(kind, count);
    Drawn& of = classes[{which, kind.what, std::bit_width(bytes)}];
    of.what = step_text;
    if (caller.group.size() == 1 || kind.what == What::alltoallv) of.tried = Tried::nothing;
    const std::uint64_t drawn = shared.below(64);
    if (drawn < 12) {
      const Form form = drawn == 0 ? Form::persistent : Form::nonblocking;
      of.deferred += caller.call_deferred(kind, count, form) + " ";
    } else {
      caller.call(kind, count, of.seen);
    }
  }
  std::size_t timed = 0;
  for (const auto& [key, of] : classes) {
    if (std::get<0>(key) == 0) {
      expect_same_everywhere(of.seen, of.what.c_str());
      expect_same_everywhere(of.deferred, of.what.c_str());
    }
    timed += of.seen.count(Way::mpi_timed);
    if (of.seen.all(Way::mpi_by_rules)) continue;
    expect_one_trial(of.seen, of.tried, false, of.what.c_str());
  }
  CHECK(timed > 0, "no trial in %d calls", calls);
  MPI_Comm_free(&half);
}

// Until the class is looked at again. Of a barrier there is one algorithm of Sumac, so that there
// are two candidates, with as many turns each; calls that pay for them may come between its rounds.
void many_barriers() {
  step("many barriers");
  constexpr std::size_t kPatience = 1000000;
  const OwnComm own;
  Caller caller(own.comm);
  Seen seen;
  std::vector<std::size_t> timed;  // the MPI's turns
  bool again = false;
  while (!again && seen.calls.size() < kPatience) {
    const std::size_t call = seen.calls.size();
    if (caller.call(kinds()[4], 0, seen) != Way::mpi_timed) continue;
    again = !timed.empty() && call - timed.back() >= kBetween;
    timed.push_back(call);
  }
  expect_same_everywhere(seen, "barriers");
  const std::string text = seen.text();
  CHECK(again, "%s", text.c_str());
  CHECK(seen.count(Way::other) + seen.count(Way::unknown) == 0, "%s", text.c_str());
  CHECK(seen.alike(0) == calls_before(2, true) && seen.calls[0] == Way::rules, "%s", text.c_str());
  // The first turn of the MPI warms it up, and the last one is of the second comparison.
  const std::size_t turns = timed.size() - 2;
  constexpr std::size_t kMixed[] = {2, 4, 8, kTurns};
  const bool is_whole = std::any_of(std::begin(kMixed), std::end(kMixed), [&](std::size_t mixed) {
    return turns == mixed || turns == mixed + kRow;
  });
  CHECK(is_whole, "%s", text.c_str());
  const std::size_t last = timed[timed.size() - 2];
  CHECK(seen.alike(last + 2) >= kBetween - 2, "%s", text.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const std::string mode = argc > 1 ? argv[1] : "exact";
  if (mode == "random") {
    const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 0) : 1;
    random_calls(argc > 2 ? std::atoi(argv[2]) : 8000, seed);
  } else if (mode == "again") {
    many_barriers();
  } else if (mode == "opposite") {
    opposite();
  } else {
    every_collective(mode);
  }
  for (MPI_Comm& comm : OwnComm::used()) MPI_Comm_free(&comm);
  return finish();
}
