// SPDX-License-Identifier: BSD-3-Clause
// Communicators over hosts of which one or all lack something: their calls must be handed down on
// all ranks for the same reason, with right results. Communicators within one host must be served
// where that is possible.
// handed_down REASON [HOST]   HOST is the host that lacks something; without it, all do
#include <string>

#include "../mpi/exercise.h"

namespace {

using namespace test;

void expect(MPI_Comm comm, bool taken, const char* reason) {
  for (int i = 0; i < 4; ++i) use(comm, i);
  MPI_Barrier(comm);
  if (taken) {
    CHECK_TAKEN();
  } else {
    CHECK_HANDED_DOWN(reason);
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const char* reason = argc > 1 ? argv[1] : "";
  char own[256] = "";
  gethostname(own, sizeof own - 1);
  const bool has_all = argc > 2 && std::strcmp(own, argv[2]) != 0;
  for (int round = 0; round < 3; ++round) {
    step("round %d", round);
    MPI_Comm whole, host, across;
    MPI_Comm_split(MPI_COMM_WORLD, 0, round % 2 ? -rank : rank, &whole);
    expect(whole, false, reason);
    MPI_Comm_split_type(whole, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    int size, place;
    MPI_Comm_size(host, &size);
    MPI_Comm_rank(host, &place);
    expect(host, has_all || size == 1, reason);
    // One rank of each host: they share no memory.
    MPI_Comm_split(whole, place, 0, &across);
    expect(across, true, reason);
    for (MPI_Comm* comm : {&across, &host, &whole}) MPI_Comm_free(comm);
  }
  return finish();
}
