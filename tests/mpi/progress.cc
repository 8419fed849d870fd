// SPDX-License-Identifier: BSD-3-Clause
// A rank that waits in a collective must go on serving messages of its peers: every case here would
// deadlock if it did not.
#include <vector>

#include "cases.h"
#include "mpi_faults.h"

namespace {

using namespace test;

constexpr int kLarge = 1 << 20;  // ints: far beyond any eager limit

// In each of them rank 0 waits for rank 1.
const Case kCollectives[] = {{.what = What::allreduce, .counts = {1}},
                             {.what = What::allreduce, .counts = {200000}},
                             {.what = What::bcast, .counts = {1}, .root = 1},
                             {.what = What::reduce, .counts = {1}},
                             {.what = What::barrier}};

void allreduce() { run(kCollectives[0], world(), Served::by_sumac); }

// Rank 0 sends a message that rank 1 receives only before it joins the collective. With
// `unexpected`, rank 0 also has incoming messages for which it has posted no receive.
void send_then(const Case& collective, bool unexpected) {
  step("send, then %s%s", name_of(collective.what),
       unexpected ? ", unexpected messages waiting" : "");
  std::vector<int> large(kLarge, rank == 0 ? 5 : 0);
  int small = 42;
  MPI_Request request;
  if (unexpected && rank == 1) {
    MPI_Send(&small, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    MPI_Send(nullptr, 0, MPI_INT, 0, 4, MPI_COMM_WORLD);
  }
  if (unexpected) MPI_Barrier(MPI_COMM_WORLD);
  if (unexpected && rank == 0) MPI_Probe(1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) MPI_Isend(large.data(), kLarge, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
  if (rank == 1) {
    usleep(3000);
    MPI_Recv(large.data(), kLarge, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(large.front() == 5 && large.back() == 5, "%d %d", large.front(), large.back());
  }
  run(collective, world(), Served::by_sumac);
  if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (unexpected && rank == 0) {
    int got = 0;
    MPI_Recv(&got, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(nullptr, 0, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == 42, "%d", got);
  }
}

// Rank 0 waits on one communicator; the message is on another.
void send_on_another_communicator() {
  step("messages on another communicator");
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  std::vector<int> large(kLarge, rank);
  MPI_Request request;
  if (rank == 0) MPI_Isend(large.data(), kLarge, MPI_INT, 1, 1, other, &request);
  if (rank == 1) MPI_Recv(large.data(), kLarge, MPI_INT, 0, 1, other, MPI_STATUS_IGNORE);
  allreduce();
  if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&other);
}

// Rank 1 accesses rank 0's window while rank 0 waits in a collective.
void one_sided() {
  step("one-sided access");
  std::vector<int> memory(1000, rank), got(1000);
  MPI_Win window;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors_return());
  const int error = MPI_Win_create(memory.data(), 4000, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  if (error != MPI_SUCCESS) return;  // Open MPI has no windows over some transports
  if (rank == 1) {
    usleep(3000);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Get(got.data(), 1000, MPI_INT, 0, 0, 1000, MPI_INT, window);
    MPI_Win_unlock(0, window);
    CHECK(got.front() == 0 && got.back() == 0, "%d", got[0]);
  }
  allreduce();
  MPI_Win_free(&window);
}

// A nonblocking collective of the MPI's own must make progress while ranks wait in a collective of
// Sumac's.
void nonblocking_beside(const Case& collective) {
  step("a nonblocking all-reduce beside %s", name_of(collective.what));
  Call call({.what = What::allreduce, .counts = {100000}, .form = Form::nonblocking});
  call.begin();
  if (rank == 1) call.wait();
  run(collective, world(), Served::by_sumac);
  if (rank != 1) call.wait();
  call.check();
}

void late_ranks() {
  for (int late = 0; late < ranks; ++late) {
    step("rank %d is late", late);
    if (rank == late) usleep(40000);
    allreduce();
    if (rank == late) usleep(1000);
    run({}, world(), Served::by_sumac);
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  for (const Case& collective : kCollectives) {
    for (bool unexpected : {false, true}) send_then(collective, unexpected);
    nonblocking_beside(collective);
  }
  send_on_another_communicator();
  one_sided();
  late_ranks();
  return finish();
}
