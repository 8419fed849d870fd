// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_ADAPT: which calls are trials and how those after them go, the same on all ranks; and right
// results throughout. A root for which a rank comes late to the turns of a path decides which is
// the faster.
//   adapt exact|all|none      every collective: what is tried with that value; none: nothing
//   adapt random CALLS SEED   with SUMAC_ADAPT=always: mixed calls on two communicators
//   adapt again               with SUMAC_ADAPT=always: calls until a class is looked at again
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "check.h"
#include "data.h"
#include "groups.h"

namespace {

using namespace test;

constexpr int kTurns = 16, kBetween = 1 << 14;

// Calls of a size before its trial: 128, or as many as take 4 MiB of payload.
int calls_before(std::size_t bytes) {
  std::size_t least = 1;
  while (2 * least <= bytes) least *= 2;
  return bytes < 2048 ? 128 : std::max(128, (4 << 20) / static_cast<int>(least));
}

// The turns that are the rival's (Thue and Morse).
bool is_rivals(int turn) { return __builtin_popcount(static_cast<unsigned>(turn)) % 2 == 1; }

enum class Kind { allreduce, sum_of_doubles, reduce, bcast, barrier, scatter, gather, exchange, v };
constexpr int kKinds = 9;
const char* const kNames[kKinds] = {"allreduce", "sum of doubles", "reduce",
                                    "bcast",     "barrier",        "scatter",
                                    "allgather", "all-to-all",     "alltoallv"};

// One letter for how the last call was served: of Sumac's algorithms, T for the one with which a
// class begins (`first`, which the class's first call sets) and O for any other.
char letter(std::string& first) {
  if (was_taken()) {
    if (first.empty()) first = path();
    return first == path() ? 'T' : 'O';
  }
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
  char call(Kind kind, int count, std::string& first) {
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
    const char served = letter(first);
    if (kind == Kind::reduce || kind == Kind::bcast) let_agree();
    return served;
  }

  // Ranks agree on what came of turns in calls that wait for all: here in one of a class of its
  // own.
  void let_agree() const {
    int values[8] = {}, sums[8];
    MPI_Allreduce(values, sums, 8, MPI_INT, MPI_SUM, group.comm);
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

// What has been seen of one class, call by call.
struct Class {
  int before = 0;        // calls until the first trial
  std::string first;     // Sumac's algorithm by the rules
  bool with_mpi = true;  // it is tried, too
  int calls = 0;         // since the last trial
  bool tried = false;    // at least once
  char after = 'T';      // calls between trials
  char kept = 'T', rival = '?';
  int turns = -1;  // of the comparison under way

  // False where the letter cannot be that of the next call.
  bool takes(char letter) {
    if (turns < 0) {
      if (calls < (tried ? kBetween : before)) return ++calls, letter == after;
      turns = 0;
      kept = 'T';
      rival = '?';
    } else if (turns == kTurns) {  // the ranks have agreed
      const char was = kept, won = rival == 't' ? 's' : rival;
      if (letter != was && letter != won) return false;
      turns = 0;
      kept = letter;
      if (rival == 't' || !with_mpi) return end(letter);
      rival = 't';
    }
    return takes_turn(letter);
  }

 private:
  bool takes_turn(char letter) {
    const int turn = turns++;
    if (!is_rivals(turn)) return letter == kept;
    if (rival == '?') rival = letter;
    return letter == rival && (letter == 'O' || (letter == 't' && with_mpi));
  }
  bool end(char letter) {
    tried = true;
    after = letter;
    turns = -1;
    calls = 1;
    return true;
  }
};

enum class Tried { nothing, own, all };

void one_class(Kind kind, int count, Tried tried) {
  const char* name = kNames[static_cast<int>(kind)];
  step("%s of %d", name, count);
  const OwnComm own;
  Caller caller(own.comm);
  Class known;
  known.with_mpi = tried == Tried::all;
  known.before = calls_before(caller.bytes(kind, count));
  const int whole = known.before + 2 * kTurns + 5;
  std::string letters;
  for (int i = 0; i < whole; ++i) letters += caller.call(kind, count, known.first);
  expect_same_everywhere(letters, name);
  if (letters.front() == 'r') return;  // the rules leave it to the MPI anyway
  if (tried == Tried::nothing ||
      (tried == Tried::own && letters[caller.n(known.before + 1)] == 'T')) {
    CHECK(letters == std::string(caller.n(whole), 'T'), "%s of %d: %s", name, count,
          letters.c_str());
    return;
  }
  bool right = true;
  for (int i = 0; i < whole && right; ++i) {
    if (!known.with_mpi && known.tried) break;  // and not again, but with SUMAC_ADAPT=always
    right = known.takes(letters[static_cast<std::size_t>(i)]);
  }
  CHECK(right && known.tried, "%s of %d: %s", name, count, letters.c_str());
  const std::size_t ended = letters.find_last_not_of(known.after);
  CHECK(ended < caller.n(known.before + 2 * kTurns), "%s of %d: %s", name, count, letters.c_str());
}

// The last rank is late to the turns of one path, of the rules, Sumac's other algorithm or the MPI:
// the root waits for it each time, and it is taken for slow.
void late_to_root(char late_to) {
  step("late to %c", late_to);
  const OwnComm own;
  Caller caller(own.comm);
  Class known;
  std::string letters;
  const int before = calls_before(2 * sizeof(int));
  for (int i = 0; i < before + 2 * kTurns + 5; ++i) {
    const int turn = i - before;
    const bool is_mpis = turn >= kTurns && is_rivals(turn - kTurns);
    const bool is_others = turn < kTurns && is_rivals(turn);
    const char whose = is_mpis ? 't' : is_others ? 'O' : 'T';
    const bool in_trial = turn >= 0 && turn < 2 * kTurns;
    // What is not late is late to the MPI's turns, so that Sumac keeps the class.
    const bool late = late_to == 'T'   ? (turn < kTurns ? whose == 'T' : whose == 't')
                      : late_to == 'O' ? whose != 'T'
                                       : whose != 't';
    if (in_trial && late && rank == ranks - 1) usleep(20000);
    caller.seed = caller.n(ranks * i) - 1;  // always to rank 0
    letters += caller.call(Kind::reduce, 2, known.first);
  }
  const char after = late_to == 'T' ? 'O' : late_to == 'O' ? 'T' : 's';
  CHECK(letters.substr(caller.n(before + 2 * kTurns)) == std::string(5, after), "%s: %s", step_text,
        letters.c_str());
  // What shares the class and is not exact stays, and other sizes know nothing of it.
  const double given = 1;
  double sum = 0;
  MPI_Reduce(&given, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, own.comm);
  CHECK(letter(known.first) == 'T', "'%s'", path());
  CHECK(rank != 0 || sum == ranks, "%g", sum);
  std::string first;
  CHECK(caller.call(Kind::reduce, 4, first) == 'T', "'%s'", path());
}

void every_collective(const std::string& mode) {
  for (int k = 0; k < kKinds; ++k) {
    const Kind kind = static_cast<Kind>(k);
    const bool rounds = kind == Kind::sum_of_doubles && mode == "exact";
    const bool never = kind == Kind::v || mode == "none";
    for (const int count : {1, 300}) {
      one_class(kind, count, never ? Tried::nothing : rounds ? Tried::own : Tried::all);
    }
  }
  if (mode != "exact") return;
  for (const char late_to : {'T', 'O', 'S'}) late_to_root(late_to);
}

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
    const Kind of = kind == Kind::sum_of_doubles ? Kind::allreduce : kind;
    const int size = 64 - __builtin_clzll(2 * caller.bytes(kind, count) + 1);
    Class& known = classes[{which, static_cast<int>(of), size}];
    known.before = calls_before(caller.bytes(kind, count));
    const char seen = caller.call(kind, count, known.first);
    if (which == 0) letters += seen;
    if (caller.group.size() == 1 || kind == Kind::v || seen == 'r') {
      CHECK(seen == 'T' || seen == 'r', "'%s'; %s", path(), step_text);
      continue;
    }
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
  known.before = calls_before(0);
  std::string letters;
  for (int i = 0; i < known.before + kTurns + kBetween + kTurns + 5; ++i) {
    letters += caller.call(Kind::barrier, 0, known.first);
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
