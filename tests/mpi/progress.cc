// SPDX-License-Identifier: BSD-3-Clause
// A rank that waits in a collective must go on serving messages of its peers: every case here would
// deadlock if it did not.
#include <functional>
#include <vector>

#include "check.h"
#include "data.h"
#include "mpi_faults.h"

namespace {

using namespace test;

constexpr int kLarge = 1 << 20;  // ints: far beyond any eager limit

struct Collective {
  const char* name;
  std::function<void()> call;  // in it rank 0 waits for rank 1
};

void allreduce() {
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == ranks * (ranks - 1) / 2, "%d", sum);
}

void allreduce_large() {
  std::vector<int> in(200000, rank), out(in.size());
  MPI_Allreduce(in.data(), out.data(), 200000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(out.front() == ranks * (ranks - 1) / 2 && out.back() == out.front(), "%d", out[0]);
}

void bcast() {
  int word = rank == 1 ? 77 : 0;
  MPI_Bcast(&word, 1, MPI_INT, 1, MPI_COMM_WORLD);
  CHECK(word == 77, "%d", word);
}

void reduce() {
  int most = 0;
  MPI_Reduce(&rank, &most, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  CHECK(rank != 0 || most == ranks - 1, "%d", most);
}

void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

// Rank 0 sends a message that rank 1 receives only before it joins the collective. With
// `unexpected`, rank 0 also has incoming messages for which it has posted no receive.
void send_then(const Collective& collective, bool unexpected) {
  step("send, then %s%s", collective.name, unexpected ? ", unexpected messages waiting" : "");
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
  collective.call();
  CHECK_TAKEN();
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
  CHECK_TAKEN();
  MPI_Win_free(&window);
}

// A nonblocking collective of the MPI's own must make progress while ranks wait in a collective of
// Sumac's.
void nonblocking_beside(const Collective& collective) {
  step("a nonblocking all-reduce beside %s", collective.name);
  std::vector<int> in(100000, 1), out(in.size());
  MPI_Request request;
  MPI_Iallreduce(in.data(), out.data(), 100000, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  if (rank == 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
  collective.call();
  CHECK_TAKEN();
  if (rank != 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(out.front() == ranks && out.back() == ranks, "%d", out[0]);
}

void late_ranks() {
  for (int late = 0; late < ranks; ++late) {
    step("rank %d is late", late);
    if (rank == late) usleep(40000);
    allreduce();
    if (rank == late) usleep(1000);
    barrier();
    CHECK_TAKEN();
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  const Collective collectives[] = {{"all-reduce", allreduce},
                                    {"large all-reduce", allreduce_large},
                                    {"bcast", bcast},
                                    {"reduce", reduce},
                                    {"barrier", barrier}};
  for (const Collective& collective : collectives) {
    for (bool unexpected : {false, true}) send_then(collective, unexpected);
    nonblocking_beside(collective);
  }
  send_on_another_communicator();
  one_sided();
  late_ranks();
  return finish();
}
