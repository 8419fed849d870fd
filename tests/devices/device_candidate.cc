// SPDX-License-Identifier: BSD-3-Clause
// An MPI that takes buffers in a GPU's memory (device_mpi.cc) is a candidate of the trials with its
// own way: what a trial leaves to it, it gets as it is.
//   device_candidate          every call, by either
//   device_candidate learns   the times that are compared have the copies in them: the MPI serves
//                             where copies are slow, and does not where its own calls are
#include <algorithm>
#include <string>

#include "devices/device_memory.h"
#include "mpi/check.h"

extern "C" unsigned long device_mpi_calls();
extern "C" void device_mpi_delay(unsigned microseconds);

namespace {

using namespace test;

constexpr int kCount = 1000;
constexpr int kFew = 1000;   // more calls than there are before the first turns
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

// Makes a call. The MPI must get the memory of a GPU, if there is any, in calls that it serves, and
// nothing in others. Returns true if it has served this one.
template <class Make>
bool is_mpis(bool host, Make make) {
  const unsigned long before = device_mpi_calls();
  make();
  const bool served = !was_taken();
  const unsigned long given = device_mpi_calls() - before;
  CHECK(given == (served && !host ? 1 : 0), "%lu given, served %d, host %d: '%s'", given, served,
        host, path());
  return served;
}

bool allreduce(const Buffer& in, const Buffer& out, bool host, int call, MPI_Comm comm) {
  in.seen[0] = call + rank;
  in.seen[kCount - 1] = call - rank;
  const bool by_mpi =
      is_mpis(host, [&] { MPI_Allreduce(in.given, out.given, kCount, MPI_INT, MPI_SUM, comm); });
  const int sum = ranks * (ranks - 1) / 2;
  CHECK(out.seen[0] == ranks * call + sum && out.seen[kCount - 1] == ranks * call - sum, "call %d",
        call);
  return by_mpi;
}

bool bcast(const Buffer& data, bool host, int call, MPI_Comm comm) {
  const int root = call % ranks;
  data.seen[kCount - 1] = rank == root ? call : -1;
  const bool by_mpi = is_mpis(host, [&] { MPI_Bcast(data.given, kCount, MPI_INT, root, comm); });
  CHECK(data.seen[kCount - 1] == call, "call %d", call);
  return by_mpi;
}

// On one rank the buffers may be in host memory.
void try_both(bool host, MPI_Comm comm) {
  CHECK(warm_up(comm), "path '%s'", path());
  const Buffer in(host), out(host);
  int reduced = 0, broadcast = 0;
  for (int call = 0; call < kFew; ++call) {
    reduced += allreduce(in, out, host, call, comm);
    broadcast += bcast(out, host, call, comm);
  }
  CHECK(reduced > 0 && broadcast > 0, "%d and %d by the MPI", reduced, broadcast);
}

// Makes calls until the MPI has been found to be faster. Returns false if it has not.
bool is_left_to_mpi(MPI_Comm comm) {
  CHECK(warm_up(comm), "path '%s'", path());
  const Buffer in(false), out(false);
  bool reduces = false, broadcasts = false;
  for (int call = 0; call < kMost && !(reduces && broadcasts); ++call) {
    allreduce(in, out, false, call, comm);
    reduces = was_handed_down(kFaster);
    bcast(out, false, call, comm);
    broadcasts = was_handed_down(kFaster);
  }
  return reduces && broadcasts;
}

// A communicator begins with what an earlier one of the same ranks has learnt. On a busy machine
// one may learn by chance that two are alike.
void learn() {
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
}

}  // namespace

int main(int argc, char** argv) {
  const bool learns = argc > 1 && std::string(argv[1]) == "learns";
  stand_ins()[0];
  start(argc, argv);
  if (learns) {
    learn();
    return finish();
  }
  MPI_Comm comms[2];
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  try_both(false, comms[0]);
  try_both(rank == 0, comms[1]);
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  return finish();
}
