// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_ADAPT: which calls are trials and how those after them go, the same on all ranks; and right
// results throughout. A root for which a rank comes late to the turns of all candidates but one
// decides which is kept. In which calls the turns are, comparison_test.cc and trials_test.cc check.
//   adapt exact|all|none      every collective: what is tried with that value; none: nothing
//   adapt random CALLS SEED   with SUMAC_ADAPT=all: mixed calls on two communicators
//   adapt again               calls until a class is looked at again
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "cases.h"

namespace {

using namespace test;

constexpr std::size_t kTurns = 16;                  // the most of one candidate
constexpr std::size_t kMostTurns = 4 * kTurns + 1;  // of four, with the MPI's warm-up
constexpr std::size_t kBetween = 1 << 14;           // calls between the first two comparisons

// Calls of a size before its trial.
std::size_t calls_before(std::size_t bytes) {
  return bytes < 2048 ? 128 : bytes < 32 << 10 ? 32 : 8;
}

struct Kind {
  What what;
  const Numbers& numbers;
};
const std::array<Kind, 9>& kinds() {
  static const std::array<Kind, 9> all{{{What::allreduce, ints()},
                                        {What::allreduce, doubles()},
                                        {What::reduce, ints()},
                                        {What::bcast, ints()},
                                        {What::barrier, ints()},
                                        {What::reduce_scatter_block, ints()},
                                        {What::allgather, ints()},
                                        {What::alltoall, ints()},
                                        {What::alltoallv, ints()}}};
  return all;
}

// How a call was served.
enum class Way {
  rules,         // by Sumac, as the first of its class
  other,         // by Sumac, otherwise
  mpi_timed,     // by the MPI, to compare it
  mpi_kept,      // by the MPI, which was found to be faster
  mpi_by_rules,  // by the MPI, which the rules prefer
  unknown
};
const char* const kWays[] = {"by the rules",       "by another algorithm", "by the MPI, timed",
                             "by the MPI, faster", "by the MPI, by rule",  "for no known reason"};

// How the calls of one class were served. `first` is how Sumac served the first of them.
struct Seen {
  std::string first;
  std::vector<Way> calls;
  std::vector<std::string> paths;

  // Adds the last call.
  Way add() {
    calls.push_back(last());
    paths.emplace_back(was_taken() ? path() : "MPI");
    return calls.back();
  }
  std::size_t count(Way way, std::size_t from = 0) const {
    return static_cast<std::size_t>(std::count(at(from), calls.end(), way));
  }
  bool all(Way way) const { return count(way) == calls.size(); }
  // How many calls from this one on are served as it is.
  std::size_t alike(std::size_t from) const {
    const auto end = std::find_if(at(from), calls.end(), [&](Way way) { return way != *at(from); });
    return static_cast<std::size_t>(end - at(from));
  }
  bool is_alike(std::size_t from) const {
    return from >= calls.size() || alike(from) == calls.size() - from;
  }
  // "128 by the rules, 1 by another algorithm, ..."
  std::string text() const {
    std::string all;
    for (std::size_t i = 0; i < calls.size(); i += alike(i)) {
      all += std::to_string(alike(i)) + " " + kWays[static_cast<int>(calls[i])] + ", ";
    }
    return all;
  }

 private:
  std::vector<Way>::const_iterator at(std::size_t place) const {
    return calls.begin() + static_cast<std::ptrdiff_t>(std::min(place, calls.size()));
  }
  Way last() {
    if (was_taken()) {
      if (first.empty()) first = path();
      return first == path() ? Way::rules : Way::other;
    }
    if (was_handed_down("timed, to compare with Sumac at this size (SUMAC_ADAPT)")) {
      return Way::mpi_timed;
    }
    if (was_handed_down("found to be faster at this size (SUMAC_ADAPT)")) return Way::mpi_kept;
    return was_handed_down("the rules prefer the MPI here") ? Way::mpi_by_rules : Way::unknown;
  }
};

struct Caller {
  explicit Caller(MPI_Comm comm) : group(group_of(comm)) {
    // The first calls are the MPI's.
    for (int i = 0; i < 2; ++i) MPI_Barrier(comm);
  }

  // Makes a call of `count` elements, checks its result, and adds how it was served.
  Way call(const Kind& kind, std::size_t count, Seen& seen) {
    Call made({.what = kind.what,
               .numbers = &kind.numbers,
               .counts = {count},
               .root = static_cast<int>(++seed % static_cast<unsigned>(group.size())),
               .seed = seed},
              group);
    made.begin();
    made.check(step_text);
    const Way served = seen.add();
    if (rooted(kind.what)) let_agree();
    return served;
  }

  // Ranks agree on what came of turns in calls that wait for all: here in one of a class of its
  // own.
  void let_agree() const {
    int values[8] = {}, sums[8];
    MPI_Allreduce(values, sums, 8, MPI_INT, MPI_SUM, group.comm);
  }

  // The bytes that decide, and with them the class.
  std::size_t bytes(const Kind& kind, std::size_t count) const {
    if (kind.what == What::barrier) return 0;
    const bool parts =
        scatters(kind.what) || kind.what == What::allgather || kind.what == What::alltoall;
    return kind.numbers.size * count * static_cast<unsigned>(parts ? group.size() : 1);
  }

  Group group;
  std::uint64_t seed = 0;  // of the data: the same on all ranks
};

// A communicator on which nothing has been tried: none of these is freed before the last has been
// made, since a new communicator begins with what a freed one of the same ranks has learnt.
struct OwnComm {
  OwnComm() { MPI_Comm_dup(MPI_COMM_WORLD, &comm); }
  ~OwnComm() { used().push_back(comm); }
  static std::vector<MPI_Comm>& used() {
    static std::vector<MPI_Comm> all;
    return all;
  }
  // Becomes a new communicator of the same ranks after the end of this one.
  void renew() {
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  }
  MPI_Comm comm;
};

// All ranks' calls were served alike.
void expect_same_everywhere(const Seen& seen, const char* what) {
  std::vector<Way> first = seen.calls;
  native().Bcast(first.data(), static_cast<int>(first.size() * sizeof(Way)), MPI_BYTE, 0,
                 MPI_COMM_WORLD);
  CHECK(first == seen.calls, "%s: %s", what, seen.text().c_str());
}

enum class Tried { nothing, own, all };

// What holds of the calls of a class, of which at most one trial was made and which may have ended
// in the middle of it.
void expect_one_trial(const Seen& seen, std::size_t before, Tried tried, const char* what) {
  const std::string text = seen.text();
  const std::size_t others = seen.count(Way::other), timed = seen.count(Way::mpi_timed);
  const auto expect = [&](bool holds, const char* that) {
    CHECK(holds, "%s: %s; %s", what, that, text.c_str());
  };
  expect(seen.count(Way::unknown) == 0, "each call is served for a known reason");
  expect(seen.alike(0) >= std::min(before, seen.calls.size()) && seen.calls[0] == Way::rules,
         "the first calls go by the rules");
  expect(seen.is_alike(before + kMostTurns), "what is found to be the fastest stays");
  expect(timed <= kTurns + 1, "the MPI has no more than its turns");
  expect(seen.count(Way::mpi_kept) == 0 || timed >= 3, "the MPI is kept after its turns");
  if (tried != Tried::all) {
    expect(timed + seen.count(Way::mpi_kept) == 0, "the MPI is not tried");
    expect(tried == Tried::own || others == 0, "Sumac's others are tried only where they may be");
  }
  if (seen.calls.size() < before + kMostTurns) return;
  expect(tried != Tried::all || timed >= 3, "the MPI has had its turns");
  expect(others != 1, "each of Sumac's others has had two turns");
}

void one_class(const Kind& kind, std::size_t count, Tried tried) {
  const char* name = name_of(kind.what);
  step("%s of %zu", name, count);
  const OwnComm own;
  Caller caller(own.comm);
  Seen seen;
  const std::size_t before = calls_before(caller.bytes(kind, count));
  for (std::size_t i = 0; i < before + kMostTurns + 5; ++i) caller.call(kind, count, seen);
  expect_same_everywhere(seen, name);
  if (!seen.all(Way::mpi_by_rules)) expect_one_trial(seen, before, tried, name);
}

// The order of the first round by the number of candidates. The call before it warms the MPI up.
constexpr std::string_view kFirstRound[] = {"ABBA", "ABCCBA", "ABCDBCDA"};
constexpr std::size_t kLateCount = 2;  // ints, which are reduced to rank 0

// Makes a call of a class whose trials a late rank influences.
Way reduce_to_first(Caller& caller, Seen& seen) {
  caller.seed = static_cast<std::size_t>(ranks) * seen.calls.size() - 1;  // always to rank 0
  return caller.call(kinds()[2], kLateCount, seen);
}

// Returns the paths of the candidates, in their order.
std::vector<std::string> candidates() {
  step("candidates");
  const OwnComm own;
  Caller caller(own.comm);
  Seen seen;
  const std::size_t first = calls_before(kLateCount * sizeof(int)) + 1;
  while (seen.calls.size() < first + 4) reduce_to_first(caller, seen);
  std::vector<std::string> found;
  for (std::size_t i = first; i < first + 4; ++i) {
    if (std::find(found.begin(), found.end(), seen.paths[i]) != found.end()) break;
    found.push_back(seen.paths[i]);
  }
  CHECK(found.size() >= 3 && found.back() == "MPI", "%s", seen.text().c_str());
  return found;
}

// The last rank is late to the turns of all candidates but one, so that the root waits for it each
// time. They are taken for slow and dropped after a round, and the one is kept.
void late_to_root(const std::vector<std::string>& paths, std::size_t fast) {
  step("late to all but %s", paths[fast].c_str());
  OwnComm own;
  Caller caller(own.comm);
  Seen seen;
  const std::string_view order = kFirstRound[paths.size() - 2];
  const std::size_t first = calls_before(kLateCount * sizeof(int)) + 1, end = first + order.size();
  for (std::size_t i = 0; i < end + 5; ++i) {
    const bool in_turn = i >= first && i < end;
    const bool is_late = in_turn && static_cast<std::size_t>(order[i - first] - 'A') != fast;
    if (is_late && rank == ranks - 1) usleep(100000);
    reduce_to_first(caller, seen);
    CHECK(!in_turn || seen.paths[i] == paths[static_cast<std::size_t>(order[i - first] - 'A')],
          "call %zu: %s", i, seen.text().c_str());
  }
  const Way kept = fast == 0 ? Way::rules : fast + 1 < paths.size() ? Way::other : Way::mpi_kept;
  CHECK(seen.calls.back() == kept && seen.paths.back() == paths[fast] && seen.is_alike(end),
        "%s: %s", step_text, seen.text().c_str());
  // What shares the class and is not exact stays, and other sizes know nothing of it.
  const double given = 1;
  double sum = 0;
  MPI_Reduce(&given, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, own.comm);
  CHECK(seen.add() == Way::rules, "'%s'", path());
  CHECK(rank != 0 || sum == ranks, "%g", sum);
  Seen larger;
  CHECK(caller.call(kinds()[2], 4, larger) == Way::rules, "'%s'", path());
  own.renew();
  Caller renewed(own.comm);
  CHECK(reduce_to_first(renewed, seen) == kept && seen.paths.back() == paths[fast], "'%s'", path());
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
  const std::vector<std::string> paths = candidates();
  for (std::size_t fast = 0; fast < paths.size(); ++fast) late_to_root(paths, fast);
}

struct Drawn {
  Seen seen;
  std::size_t before = 0;
  Tried tried = Tried::all;
  std::string what;
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
    of.before = calls_before(bytes);
    if (caller.group.size() == 1 || kind.what == What::alltoallv) of.tried = Tried::nothing;
    caller.call(kind, count, of.seen);
  }
  std::size_t timed = 0;
  for (const auto& [key, of] : classes) {
    if (std::get<0>(key) == 0) expect_same_everywhere(of.seen, of.what.c_str());
    timed += of.seen.count(Way::mpi_timed);
    if (of.seen.all(Way::mpi_by_rules)) continue;
    expect_one_trial(of.seen, of.before, of.tried, of.what.c_str());
  }
  CHECK(timed > 0, "no trial in %d calls", calls);
  MPI_Comm_free(&half);
}

// Until the class is looked at again, and a little longer. Of a barrier there is one algorithm of
// Sumac, so that there are two candidates, with as many turns each.
void many_barriers() {
  step("many barriers");
  const OwnComm own;
  Caller caller(own.comm);
  Seen seen;
  const std::size_t before = calls_before(0);
  while (seen.calls.size() < before + 4 * kTurns + kBetween + 5) caller.call(kinds()[4], 0, seen);
  expect_same_everywhere(seen, "barriers");
  const std::string text = seen.text();
  const auto timed_between = [&](std::size_t from, std::size_t to) {
    return seen.count(Way::mpi_timed, from) - seen.count(Way::mpi_timed, to);
  };
  const auto is_turns = [](std::size_t n) { return n == 2 || n == 4 || n == 8 || n == 16; };
  CHECK(seen.count(Way::other) + seen.count(Way::unknown) == 0, "%s", text.c_str());
  CHECK(seen.alike(0) >= before && seen.calls[0] == Way::rules, "%s", text.c_str());
  // The first turn of the MPI warms it up.
  const std::size_t turns = timed_between(before, before + kBetween) - 1;
  const std::size_t end = before + 1 + 2 * turns, again = end + kBetween;
  CHECK(is_turns(turns), "%s", text.c_str());
  CHECK(seen.alike(end) >= kBetween, "%s", text.c_str());
  const std::size_t more = seen.count(Way::mpi_timed, again);
  CHECK(is_turns(more), "%s", text.c_str());
  CHECK(seen.is_alike(again + 2 * more), "%s", text.c_str());
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
  } else {
    every_collective(mode);
  }
  for (MPI_Comm& comm : OwnComm::used()) MPI_Comm_free(&comm);
  return finish();
}
