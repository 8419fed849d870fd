// SPDX-License-Identifier: BSD-3-Clause
// An MPI that takes buffers in a GPU's memory (device_mpi.cc) is a candidate of the trials with its
// own way, and is timed beside Sumac's copies: it serves once these have been found to be slower,
// and not where its own calls are. Buffers of rank 0 may be in host memory meanwhile.
#include <algorithm>

#include "devices/device_memory.h"
#include "mpi/check.h"

extern "C" unsigned long device_mpi_calls();
extern "C" void device_mpi_delay(unsigned microseconds);

namespace {

using namespace test;

constexpr int kCount = 1000;
constexpr int kMost = 6000;  // more calls than trials need until they have ended
constexpr char kFaster[] = "found to be faster at this size (SUMAC_ADAPT)";

const StandIn& driver() { return stand_ins()[0]; }

struct Buffer {
  explicit Buffer(bool host)
      : given(static_cast<int*>(STAND_IN(driver(), stand_in_allocate)(kCount * sizeof(int), 0))),
        seen(static_cast<int*>(STAND_IN(driver(), stand_in_view)(given))) {
    if (host) STAND_IN(driver(), stand_in_set_host)(given, 1);
  }
  ~Buffer() { STAND_IN(driver(), stand_in_free)(given); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  int* const given;
  int* const seen;
};

void allreduce(const Buffer& in, const Buffer& out, int call, MPI_Comm comm) {
  in.seen[0] = call + rank;
  in.seen[kCount - 1] = call - rank;
  MPI_Allreduce(in.given, out.given, kCount, MPI_INT, MPI_SUM, comm);
  const int sum = ranks * (ranks - 1) / 2;
  CHECK(out.seen[0] == ranks * call + sum && out.seen[kCount - 1] == ranks * call - sum, "call %d",
        call);
}

void bcast(const Buffer& data, int call, MPI_Comm comm) {
  const int root = call % ranks;
  data.seen[kCount - 1] = rank == root ? call : -1;
  MPI_Bcast(data.given, kCount, MPI_INT, root, comm);
  CHECK(data.seen[kCount - 1] == call, "call %d", call);
}

// Makes calls until the MPI has been found to be faster, and some more, in which rank 0 may have
// its buffers in host memory. Returns false if that has not been found.
bool is_left_to_mpi(MPI_Comm comm) {
  CHECK(warm_up(comm), "path '%s'", path());
  const Buffer in(false), out(false);
  bool reduces = false, broadcasts = false;
  for (int call = 0; call < kMost && !(reduces && broadcasts); ++call) {
    allreduce(in, out, call, comm);
    reduces = was_handed_down(kFaster);
    bcast(out, call, comm);
    broadcasts = was_handed_down(kFaster);
  }
  for (const bool host : {false, rank == 0}) {
    const Buffer from(host), to(host);
    const unsigned long before = device_mpi_calls();
    allreduce(from, to, 1, comm);
    bcast(to, 1, comm);
    const unsigned long given = device_mpi_calls() - before, left = reduces + broadcasts;
    CHECK(given == (host ? 0 : left), "%lu calls, left %lu, host %d", given, left, host);
  }
  return reduces && broadcasts;
}

}  // namespace

int main(int argc, char** argv) {
  stand_ins()[0];
  start(argc, argv);
  // A communicator begins with what an earlier one of the same ranks has learnt. On a busy machine
  // one may learn by chance that two are alike.
  MPI_Comm comms[2][3];
  for (auto& group : comms) {
    for (MPI_Comm& comm : group) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  }
  STAND_IN(driver(), stand_in_delay)(2000);
  CHECK(std::any_of(comms[0], comms[0] + 3, is_left_to_mpi), "path '%s'", path());
  STAND_IN(driver(), stand_in_delay)(0);
  device_mpi_delay(2000);
  CHECK(!std::all_of(comms[1], comms[1] + 3, is_left_to_mpi), "path '%s'", path());
  for (auto& group : comms) {
    for (MPI_Comm& comm : group) MPI_Comm_free(&comm);
  }
  return finish();
}
