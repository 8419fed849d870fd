// SPDX-License-Identifier: BSD-3-Clause
// Communicators on which only MPI_Alltoallv and MPI_Alltoallw are called. No rank knows from its
// own counts whether the others wait for all, so they are asked, in calls 2, 4, 8 and so on, until
// all have heard of all. Until then the calls are the MPI's, whoever gets nothing from whom; and
// communicators may end while not all ranks have answered.
//   asked COMMUNICATORS SEED
#include <unistd.h>

#include "cases.h"

namespace {

using namespace test;

// The counts of one call: what each rank gives each other one.
struct Exchange {
  int size, quiet;  // `quiet` gets nothing from the others; -1: there is none
  int count;
  bool gives = false;  // `quiet` gives the others something

  std::size_t given(int from, int to) const {
    if (from != to && (to == quiet || (from == quiet && !gives))) return 0;
    return static_cast<std::size_t>(count + (from + 2 * to) % 3);
  }
};

void exchange(const Exchange& call, MPI_Comm comm, bool by_w) {
  Case c{.what = by_w ? What::alltoallw : What::alltoallv, .counts = {}};
  for (int from = 0; from < call.size; ++from) {
    for (int to = 0; to < call.size; ++to) c.counts.push_back(call.given(from, to));
  }
  Call made(c, group_of(comm));
  made.begin();
  made.check();
}

// Makes calls until the communicator is served, and two more. What is drawn from `shared` is the
// same on all ranks.
void use_until_served(MPI_Comm comm, Random& shared, Random& own) {
  Exchange call{0, -1, 1};
  MPI_Comm_size(comm, &call.size);
  const int loud = static_cast<int>(shared.below(6));  // from this call on all exchange with all
  int served_after = call.size == 1 ? 0 : 2;
  while (call.size > 1 && served_after <= loud) served_after *= 2;
  for (int i = 1; i <= served_after + 2; ++i) {
    const bool is_loud = i > loud;
    call.quiet = is_loud ? -1 : static_cast<int>(shared.below(static_cast<unsigned>(call.size)));
    call.count = 1 + static_cast<int>(shared.below(50));
    const bool by_w = shared.below(2);
    call.gives = shared.below(2);
    step("call %d of %d ranks, quiet %d, loud after %d", i, call.size, call.quiet, loud);
    if (own.below(16) == 0) usleep(static_cast<useconds_t>(own.below(300)));
    exchange(call, comm, by_w);
    CHECK(call.size == 1 || was_taken() == (i > served_after), "call %d, served after %d: %s", i,
          served_after, path());
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const int total = argc > 1 ? std::atoi(argv[1]) : 40;
  const std::uint64_t seed = argc > 2 ? static_cast<std::uint64_t>(std::atoi(argv[2])) : 1;
  Random shared(seed), own(seed + 1000 * static_cast<std::uint64_t>(rank + 1));
  for (int i = 0; i < total; ++i) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, (rank * 7 + i) % (ranks + 1), &comm);
    if (i % 4 == 0 && ranks > 1) {
      // It ends while some have been told that a rank does not wait, and not all have heard it.
      int size;
      MPI_Comm_size(comm, &size);
      for (int k = 0; k < 2; ++k) exchange({size, i % size, 3, i % 8 == 0}, comm, k == 1);
    } else {
      use_until_served(comm, shared, own);
    }
    if (i % 5 != 4) MPI_Comm_free(&comm);
  }
  // Some are asked once more, and nobody waits before MPI_Finalize.
  for (int k = 0; k < 2; ++k) exchange({ranks, ranks - 1, 2, true}, MPI_COMM_WORLD, false);
  return finish();
}
