// SPDX-License-Identifier: BSD-3-Clause
// Ranks that need not wait for others do not: the root of a broadcast, a rank that gives its data
// to a reduce, and one whose part of a reduce-scatter is empty make many calls and then send what
// another rank receives before it makes the first of these calls. If one of them waited, all would.
//   run_ahead cold    on communicators that have just been made
//   run_ahead warm    on communicators that Sumac serves, as many calls as it lets a rank go ahead
//   run_ahead levels  the same over levels: the root of a broadcast, and a rank that leads nobody.
//                     Small data only, since large messages wait for their receivers.
#include <algorithm>
#include <cstring>
#include <vector>

#include "check.h"

namespace {

using namespace test;

enum class Kind { bcast, reduce, scatter };
constexpr const char* kNames[] = {"bcast", "reduce", "reduce-scatter"};

struct Case {
  int calls, bytes;
};

// As few bytes as go in one line each, and 64 KiB in pieces of several sizes.
const std::vector<Case> kSmall{{1, 8}, {2, 1}, {6, 8}, {255, 8}, {256, 56}};
const std::vector<Case> kLarger{{256, 57},  {255, 257}, {146, 449}, {64, 1024},
                                {31, 2072}, {31, 2073}, {15, 4097}, {8, 8192}};

unsigned char value(int number, int giver) {
  return static_cast<unsigned char>(1 + (number * 5 + giver) % 50);
}

// One call of a rank. `ahead`: the rank that does not wait for others.
class Calls {
 public:
  Calls(MPI_Comm comm, Kind kind, const Case& each, int ahead, int root)
      : comm_(comm), kind_(kind), ahead_(ahead), root_(root), counts_(n(ranks), each.bytes) {
    counts_[n(ahead)] = 0;
    const int all = kind == Kind::scatter ? each.bytes * (ranks - 1) : each.bytes;
    given_.resize(n(all));
    taken_.resize(n(each.bytes));
  }

  void make(int number) {
    const int bytes = static_cast<int>(taken_.size());
    std::memset(given_.data(), value(number, rank), given_.size());
    std::memset(taken_.data(), 0, taken_.size());
    switch (kind_) {
      case Kind::bcast:
        if (rank == ahead_) taken_ = given_;
        MPI_Bcast(taken_.data(), bytes, MPI_BYTE, ahead_, comm_);
        return expect(value(number, ahead_));
      case Kind::reduce:
        MPI_Reduce(given_.data(), taken_.data(), bytes, MPI_UNSIGNED_CHAR, MPI_MAX, root_, comm_);
        if (rank == root_) expect(most(number));
        return;
      case Kind::scatter:
        MPI_Reduce_scatter(given_.data(), taken_.data(), counts_.data(), MPI_UNSIGNED_CHAR, MPI_MAX,
                           comm_);
        if (rank != ahead_) expect(most(number));
        return;
    }
  }

 private:
  static std::size_t n(int count) { return static_cast<std::size_t>(count); }
  static unsigned char most(int number) {
    unsigned char most = 0;
    for (int r = 0; r < ranks; ++r) most = std::max(most, value(number, r));
    return most;
  }
  void expect(unsigned char wanted) const {
    bool right = true;
    for (const unsigned char each : taken_) right &= each == wanted;
    CHECK(right, "%s of %zu bytes", kNames[static_cast<int>(kind_)], taken_.size());
  }

  MPI_Comm comm_;
  Kind kind_;
  int ahead_, root_;
  std::vector<int> counts_;
  std::vector<unsigned char> given_, taken_;
};

// Rank `ahead` makes all its calls before `late` makes one.
void run(MPI_Comm comm, Kind kind, const Case& each, int ahead, int late, int root, bool warm) {
  step("%d of %s, %d bytes; rank %d ahead of %d, root %d", each.calls,
       kNames[static_cast<int>(kind)], each.bytes, ahead, late, root);
  Calls calls(comm, kind, each, ahead, root);
  // The vector of a reduce-scatter has a part for each of the other ranks.
  constexpr int kTag = 7, kMost = 64 << 10, kMostEarly = 8 << 10;
  const int bytes = each.bytes * (kind == Kind::scatter ? ranks - 1 : 1);
  if (bytes > kMostEarly) return;
  const int times = std::min(each.calls, kMost / bytes);
  int go = 1;
  if (rank == late) MPI_Recv(&go, 1, MPI_INT, ahead, kTag, comm, MPI_STATUS_IGNORE);
  for (int i = 0; i < times; ++i) {
    calls.make(i);
    if (warm) CHECK_TAKEN();
  }
  if (rank == ahead) MPI_Send(&go, 1, MPI_INT, late, kTag, comm);
}

// On a communicator that Sumac serves: every kind of call, each rank ahead of the next one.
void run_warm(const Case& each, bool over_levels) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  warm_up(comm);
  for (const Kind kind : {Kind::bcast, Kind::reduce, Kind::scatter}) {
    for (int ahead = 0; ahead < ranks; ++ahead) {
      // Leaders wait for those whose data they pass on.
      const bool waits = kind == Kind::scatter || (kind == Kind::reduce && ahead + 1 < ranks);
      if (over_levels && waits) continue;
      const int late = (ahead + 1) % ranks;
      const int root = kind == Kind::reduce && ahead % 2 == 1 ? late : (ahead + ranks - 1) % ranks;
      run(comm, kind, each, ahead, late, root, true);
      MPI_Barrier(comm);
    }
  }
  MPI_Comm_free(&comm);
}

// The first calls on a communicator are the MPI's, of which some let a rank go ahead only from rank
// 0, or to it.
void run_cold(const Case& each) {
  const int last = ranks - 1;
  for (const Kind kind : {Kind::bcast, Kind::reduce}) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const bool gives = kind == Kind::reduce;
    run(comm, kind, each, gives ? last : 0, gives && last == 1 ? 0 : 1, 0, false);
    MPI_Comm_free(&comm);
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const char* const which = argc > 1 ? argv[1] : "warm";
  const bool cold = std::strcmp(which, "cold") == 0, levels = std::strcmp(which, "levels") == 0;
  for (const Case& each : kSmall) cold ? run_cold(each) : run_warm(each, levels);
  if (!cold && !levels) {
    for (const Case& each : kLarger) run_warm(each, false);
    // Both at once.
    for (const Case& each : kLarger) {
      step("%d calls of %d bytes among small ones", each.calls, each.bytes);
      MPI_Comm comm;
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      warm_up(comm);
      Calls larger(comm, Kind::bcast, each, 0, 0), small(comm, Kind::bcast, {1, 8}, 0, 0);
      int go = 1;
      if (rank == 1) MPI_Recv(&go, 1, MPI_INT, 0, 7, comm, MPI_STATUS_IGNORE);
      for (int i = 0, left = 256 - each.calls; i < each.calls; ++i) {
        larger.make(i);
        for (int k = 0; k < 3 && left > 0; ++k, --left) small.make(k);
      }
      if (rank == 0) MPI_Send(&go, 1, MPI_INT, 1, 7, comm);
      MPI_Comm_free(&comm);
    }
  }
  return finish();
}
