// SPDX-License-Identifier: BSD-3-Clause
// Ranks that need not wait for others do not: the root of a broadcast, a rank that gives its data
// to a reduce, and one whose part of a reduce-scatter is empty make many calls and then send what
// another rank receives before it makes the first of these calls. If one of them waited, all would.
//   run_ahead cold    on communicators that have just been made
//   run_ahead warm    on communicators that Sumac serves, as many calls as it lets a rank go ahead
//   run_ahead levels  the same over levels: the root of a broadcast, and a rank that leads nobody.
//                     Small data only, since large messages wait for their receivers.
#include "cases.h"

namespace {

using namespace test;

struct Calls {
  int times, bytes;
};

// As few bytes as go in one line each, and 64 KiB in pieces of several sizes.
const std::vector<Calls> kSmall{{1, 8}, {2, 1}, {6, 8}, {255, 8}, {256, 56}};
const std::vector<Calls> kLarger{{256, 57},  {255, 257}, {146, 449}, {64, 1024},
                                 {31, 2072}, {31, 2073}, {15, 4097}, {8, 8192}};

// `ahead`: the rank that does not wait for others, because it has no part or is a broadcast's root.
Case case_of(What what, int bytes, int ahead, int root) {
  Case c{.what = what, .numbers = &test::bytes(), .counts = {static_cast<std::size_t>(bytes)}};
  c.root = what == What::bcast ? ahead : root;
  if (what != What::reduce_scatter) return c;
  c.counts.assign(static_cast<std::size_t>(ranks), c.counts[0]);
  c.counts[static_cast<std::size_t>(ahead)] = 0;
  return c;
}

void make(Call& call, int number) {
  call.fill(static_cast<std::uint64_t>(number));
  call.begin();
  call.check();
}

// Rank `ahead` makes all its calls before `late` makes one.
void run(MPI_Comm comm, What what, const Calls& each, int ahead, int late, int root, bool warm) {
  Call call(case_of(what, each.bytes, ahead, root), group_of(comm));
  step("%d times, rank %d ahead of %d: %s", each.times, ahead, late, call.text().c_str());
  // The vector of a reduce-scatter has a part for each of the other ranks.
  constexpr int kTag = 7, kMost = 64 << 10, kMostEarly = 8 << 10;
  const int bytes = each.bytes * (scatters(what) ? ranks - 1 : 1);
  if (bytes > kMostEarly) return;
  const int times = std::min(each.times, kMost / bytes);
  int go = 1;
  if (rank == late) MPI_Recv(&go, 1, MPI_INT, ahead, kTag, comm, MPI_STATUS_IGNORE);
  for (int i = 0; i < times; ++i) {
    make(call, i);
    if (warm) CHECK_TAKEN();
  }
  if (rank == ahead) MPI_Send(&go, 1, MPI_INT, late, kTag, comm);
}

// On a communicator that Sumac serves: every kind of call, each rank ahead of the next one.
void run_warm(const Calls& each, bool over_levels) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  warm_up(comm);
  for (const What what : {What::bcast, What::reduce, What::reduce_scatter}) {
    for (int ahead = 0; ahead < ranks; ++ahead) {
      // Leaders wait for those whose data they pass on.
      const bool waits = scatters(what) || (what == What::reduce && ahead + 1 < ranks);
      if (over_levels && waits) continue;
      const int late = (ahead + 1) % ranks;
      const int root = what == What::reduce && ahead % 2 == 1 ? late : (ahead + ranks - 1) % ranks;
      run(comm, what, each, ahead, late, root, true);
      MPI_Barrier(comm);
    }
  }
  MPI_Comm_free(&comm);
}

// The first calls on a communicator are the MPI's, of which some let a rank go ahead only from rank
// 0, or to it.
void run_cold(const Calls& each) {
  const int last = ranks - 1;
  for (const What what : {What::bcast, What::reduce}) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const bool gives = what == What::reduce;
    run(comm, what, each, gives ? last : 0, gives && last == 1 ? 0 : 1, 0, false);
    MPI_Comm_free(&comm);
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const char* const which = argc > 1 ? argv[1] : "warm";
  const bool cold = std::strcmp(which, "cold") == 0, levels = std::strcmp(which, "levels") == 0;
  for (const Calls& each : kSmall) cold ? run_cold(each) : run_warm(each, levels);
  if (!cold && !levels) {
    for (const Calls& each : kLarger) run_warm(each, false);
    // Both at once.
    for (const Calls& each : kLarger) {
      step("%d calls of %d bytes among small ones", each.times, each.bytes);
      MPI_Comm comm;
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      warm_up(comm);
      const Group group = group_of(comm);
      Call larger(case_of(What::bcast, each.bytes, 0, 0), group);
      Call small(case_of(What::bcast, 8, 0, 0), group);
      int go = 1;
      if (rank == 1) MPI_Recv(&go, 1, MPI_INT, 0, 7, comm, MPI_STATUS_IGNORE);
      for (int i = 0, left = 256 - each.times; i < each.times; ++i) {
        make(larger, i);
        for (int k = 0; k < 3 && left > 0; ++k, --left) make(small, k);
      }
      if (rank == 0) MPI_Send(&go, 1, MPI_INT, 1, 7, comm);
      MPI_Comm_free(&comm);
    }
  }
  return finish();
}
