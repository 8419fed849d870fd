// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_ADAPT: which calls are trials and who serves those after them, the same on all ranks; and
// right results throughout. A root for which a rank comes late to Sumac's turns, or to the MPI's,
// decides who is the faster.
//   adapt exact|all|none      every collective: what is tried with that value; none: nothing
//   adapt random CALLS SEED   with SUMAC_ADAPT=always: mixed calls on two communicators
//   adapt again               with SUMAC_ADAPT=always: calls until a class is looked at again
#include <map>
#include <string>
#include <vector>

#include "check.h"
#include "data.h"
#include "groups.h"

namespace {

using namespace test;

constexpr int kBefore = 128, kTurns = 16, kBetween = 1 << 14;

// The turns that are the MPI's (Thue and Morse).
bool is_native(int turn) { return __builtin_popcount(static_cast<unsigned>(turn)) % 2 == 1; }

enum class Kind { allreduce, sum_of_doubles, reduce, bcast, barrier, scatter, gather, exchange, v };
constexpr int kKinds = 9;
const char* const kNames[kKinds] = {"allreduce", "sum of doubles", "reduce",
                                    "bcast",     "barrier",        "scatter",
                                    "allgather", "all-to-all",     "alltoallv"};

// One letter for how the last call was served.
char letter() {
  if (was_taken()) return 'T';
  if (was_handed_down("timed, to compare with Sumac at this size (SUMAC_ADAPT)")) return 't';
  if (was_handed_down("found to be faster at this size (SUMAC_ADAPT)")) return 's';
  return was_handed_down("the rules prefer the MPI here") ? 'r' : '?';
}

struct Caller {
  explicit Caller(MPI_Comm comm) : group(group_of(comm)) {
    // The first calls are the MPI's.
    for (int i = 0; i < 2; ++i) MPI_Barrier(comm);
  }

  std::size_t n(int count) const { return static_cast<std::size_t>(count); }
  int element(int r, int i) const {
    return static_cast<int>(mix(seed + static_cast<unsigned>(r * 7919 + i)) % 1000) - 500;
  }
  int sum(int i) const {
    int all = 0;
    for (int r = 0; r < group.size(); ++r) all += element(r, i);
    return all;
  }
  template <class T>
  std::vector<T> own(int count) const {
    std::vector<T> values(n(count));
    for (int i = 0; i < count; ++i) values[n(i)] = static_cast<T>(element(group.rank, i));
    return values;
  }
  template <class T, class Expected>
  void expect(const std::vector<T>& values, Expected expected) const {
    bool right = true;
    for (int i = 0; i < static_cast<int>(values.size()); ++i) {
      right &= values[n(i)] == static_cast<T>(expected(i));
    }
    CHECK(right, "%zu elements, '%s'; %s", values.size(), path(), step_text);
  }

  void reduce_all(int count) {
    std::vector<int> result(n(count), -1);
    MPI_Allreduce(own<int>(count).data(), result.data(), count, MPI_INT, MPI_SUM, group.comm);
    expect(result, [&](int i) { return sum(i); });
  }
  void reduce_doubles(int count) {
    std::vector<double> result(n(count), -1);
    MPI_Allreduce(own<double>(count).data(), result.data(), count, MPI_DOUBLE, MPI_SUM, group.comm);
    expect(result, [&](int i) { return sum(i); });
  }
  void reduce(int count) {
    const int root = static_cast<int>(seed % n(group.size()));
    std::vector<int> result(group.rank == root ? n(count) : 0, -1);
    MPI_Reduce(own<int>(count).data(), result.data(), count, MPI_INT, MPI_SUM, root, group.comm);
    expect(result, [&](int i) { return sum(i); });
  }
  void bcast(int count) {
    const int root = static_cast<int>(seed % n(group.size()));
    std::vector<int> data(n(count), -1);
    if (group.rank == root) data = own<int>(count);
    MPI_Bcast(data.data(), count, MPI_INT, root, group.comm);
    expect(data, [&](int i) { return element(root, i); });
  }
  void scatter(int count) {
    std::vector<int> result(n(count), -1);
    MPI_Reduce_scatter_block(own<int>(count * group.size()).data(), result.data(), count, MPI_INT,
                             MPI_SUM, group.comm);
    expect(result, [&](int i) { return sum(group.rank * count + i); });
  }
  void gather(int count) {
    std::vector<int> result(n(count * group.size()), -1);
    MPI_Allgather(own<int>(count).data(), count, MPI_INT, result.data(), count, MPI_INT,
                  group.comm);
    expect(result, [&](int i) { return element(i / count, i % count); });
  }
  void exchange(int count) {
    std::vector<int> result(n(count * group.size()), -1);
    MPI_Alltoall(own<int>(count * group.size()).data(), count, MPI_INT, result.data(), count,
                 MPI_INT, group.comm);
    expect(result, [&](int i) { return element(i / count, group.rank * count + i % count); });
  }
  void exchange_v(int count) {
    const std::vector<int> counts(n(group.size()), count);
    std::vector<int> places(n(group.size())), result(n(count * group.size()), -1);
    for (int r = 0; r < group.size(); ++r) places[n(r)] = r * count;
    MPI_Alltoallv(own<int>(count * group.size()).data(), counts.data(), places.data(), MPI_INT,
                  result.data(), counts.data(), places.data(), MPI_INT, group.comm);
    expect(result, [&](int i) { return element(i / count, group.rank * count + i % count); });
  }

  // Makes a call of `count` elements, checks its result, and returns how it was served.
  char call(Kind kind, int count) {
    ++seed;
    switch (kind) {
      case Kind::allreduce:
        reduce_all(count);
        break;
      case Kind::sum_of_doubles:
        reduce_doubles(count);
        break;
      case Kind::reduce:
        reduce(count);
        break;
      case Kind::bcast:
        bcast(count);
        break;
      case Kind::barrier:
        MPI_Barrier(group.comm);
        break;
      case Kind::scatter:
        scatter(count);
        break;
      case Kind::gather:
        gather(count);
        break;
      case Kind::exchange:
        exchange(count);
        break;
      case Kind::v:
        exchange_v(count);
    }
    return letter();
  }

  // The bytes that decide, and with them the class.
  std::size_t bytes(Kind kind, int count) const {
    if (kind == Kind::barrier) return 0;
    const bool parts = kind == Kind::scatter || kind == Kind::gather || kind == Kind::exchange;
    const std::size_t element = kind == Kind::sum_of_doubles ? sizeof(double) : sizeof(int);
    return element * n(count) * n(parts ? group.size() : 1);
  }

  Group group;
  std::uint64_t seed = 0;  // of the data: the same on all ranks
};

struct OwnComm {
  OwnComm() { MPI_Comm_dup(MPI_COMM_WORLD, &comm); }
  ~OwnComm() { MPI_Comm_free(&comm); }
  MPI_Comm comm;
};

// All ranks' calls were served alike.
void expect_same_everywhere(const std::string& letters, const char* what) {
  std::string first = letters;
  native().Bcast(first.data(), static_cast<int>(first.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  CHECK(first == letters, "%s", what);
}

// The letters of `calls` calls of one class, of which the last letter is that of calls that are no
// trials and come after one.
std::string expected_letters(int calls, bool tried, char after) {
  std::string letters;
  for (int i = 0; i < calls; ++i) {
    const bool turn = i >= kBefore && i < kBefore + kTurns;
    char letter = tried && i >= kBefore + kTurns ? after : 'T';
    if (tried && turn && is_native(i - kBefore)) letter = 't';
    letters += letter;
  }
  return letters;
}

void one_class(Kind kind, int count, bool tried) {
  const char* name = kNames[static_cast<int>(kind)];
  step("%s of %d", name, count);
  const OwnComm own;
  Caller caller(own.comm);
  std::string letters;
  for (int i = 0; i < kBefore + kTurns + 5; ++i) letters += caller.call(kind, count);
  expect_same_everywhere(letters, name);
  const char after = letters.back();
  if (letters.front() == 'r') return;  // the rules leave it to the MPI anyway
  CHECK(after == 'T' || after == 's', "%c", after);
  const std::string expected = expected_letters(static_cast<int>(letters.size()), tried, after);
  CHECK(letters == expected, "%s of %d: %s", name, count, letters.c_str());
}

// The last rank is late to Sumac's turns, or to the MPI's. The root waits for it each time, and is
// taken for slow.
void late_to_root(bool late_to_sumac) {
  step("late to %s", late_to_sumac ? "Sumac" : "the MPI");
  const OwnComm own;
  Caller caller(own.comm);
  std::string letters;
  for (int i = 0; i < kBefore + kTurns + 5; ++i) {
    const bool turn = i >= kBefore && i < kBefore + kTurns;
    if (turn && is_native(i - kBefore) != late_to_sumac && rank == ranks - 1) usleep(50000);
    caller.seed = caller.n(ranks * i) - 1;  // always to rank 0
    letters += caller.call(Kind::reduce, 2);
  }
  const auto calls = static_cast<int>(letters.size());
  CHECK(letters == expected_letters(calls, true, late_to_sumac ? 's' : 'T'), "%s: %s", step_text,
        letters.c_str());
  // What shares the class and is not exact stays, and other sizes know nothing of it.
  const double given = 1;
  double sum = 0;
  MPI_Reduce(&given, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, own.comm);
  CHECK(letter() == 'T', "'%s'", path());
  CHECK(rank != 0 || sum == ranks, "%g", sum);
  CHECK(caller.call(Kind::reduce, 4) == 'T', "'%s'", path());
}

void every_collective(const std::string& mode) {
  for (int k = 0; k < kKinds; ++k) {
    const Kind kind = static_cast<Kind>(k);
    const bool never = kind == Kind::v || (kind == Kind::sum_of_doubles && mode == "exact");
    for (const int count : {1, 300}) one_class(kind, count, mode != "none" && !never);
  }
  if (mode != "exact") return;
  for (const bool sumac : {true, false}) late_to_root(sumac);
}

// What has been seen of one class.
struct Class {
  int calls = 0;
  bool tried = false;  // at least once
  char after = 'T';

  // False where the letter cannot be that of the next call.
  bool takes(char letter) {
    const int before = tried ? kBetween : kBefore;
    if (calls == before + kTurns) {
      tried = true;
      after = letter;
      calls = 1;
      return letter == 'T' || letter == 's';
    }
    const int turn = calls++ - before;
    return letter == (turn < 0 ? after : is_native(turn) ? 't' : 'T');
  }
};

void random_calls(int calls, std::uint64_t seed) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  Caller callers[2] = {Caller(MPI_COMM_WORLD), Caller(half)};
  std::map<std::tuple<int, int, int>, Class> classes;
  Random shared(seed), own(seed * 1000 + static_cast<std::uint64_t>(rank));
  std::string letters;
  int tried = 0;
  for (int i = 0; i < calls; ++i) {
    const auto which = static_cast<int>(shared.below(4) == 0);
    const auto kind = static_cast<Kind>(shared.below(kKinds));
    const int count = std::vector<int>{1, 40, 3000}[shared.below(3)];
    step("call %d: %s of %d", i, kNames[static_cast<int>(kind)], count);
    if (own.below(64) == 0) usleep(static_cast<useconds_t>(own.below(200)));
    Caller& caller = callers[which];
    const char seen = caller.call(kind, count);
    if (which == 0) letters += seen;
    if (caller.group.size() == 1 || kind == Kind::v || seen == 'r') {
      CHECK(seen == 'T' || seen == 'r', "'%s'; %s", path(), step_text);
      continue;
    }
    const Kind of = kind == Kind::sum_of_doubles ? Kind::allreduce : kind;
    const int size = 64 - __builtin_clzll(2 * caller.bytes(kind, count) + 1);
    Class& known = classes[{which, static_cast<int>(of), size}];
    CHECK(known.takes(seen), "call %d: '%s'; %s", known.calls, path(), step_text);
    tried += seen == 't';
  }
  CHECK(tried > 0, "no trial in %d calls", calls);
  expect_same_everywhere(letters, "random calls");
  MPI_Comm_free(&half);
}

// Until the class is looked at again, and a little longer.
void many_barriers() {
  step("many barriers");
  const OwnComm own;
  Caller caller(own.comm);
  Class known;
  std::string letters;
  for (int i = 0; i < kBefore + kTurns + kBetween + kTurns + 5; ++i) {
    letters += caller.call(Kind::barrier, 0);
    if (!CHECK(known.takes(letters.back()), "barrier %d: '%s'", i, path())) break;
  }
  expect_same_everywhere(letters, "barriers");
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
  return finish();
}
