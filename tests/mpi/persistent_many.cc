// SPDX-License-Identifier: BSD-3-Clause
// Very many persistent collectives at the same time, and communicators that are freed before their
// persistent requests, again and again: tags, contexts and memory must not run out.
// persistent_many OPERATIONS CYCLES
#include <vector>

#include "exercise.h"
#include "persistent.h"

namespace {

using namespace test;

void many_at_a_time(std::size_t count) {
  step("%zu at a time", count);
  std::vector<int> in(count), out(count, -1);
  std::vector<MPI_Request> requests(count);
  for (std::size_t i = 0; i < count; ++i) {
    in[i] = static_cast<int>(i) + rank;
    inits().Allreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &requests[i]);
  }
  const std::size_t stride = count / 50 + 1;
  for (std::size_t i = 0; i < count; i += stride) MPI_Start(&requests[i]);
  for (std::size_t i = 0; i < count; i += stride) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  for (std::size_t i = 0; i < count; i += stride) {
    const int sum = ranks * static_cast<int>(i) + ranks * (ranks - 1) / 2;
    CHECK(out[i] == sum, "%d", out[i]);
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

void freed_before_requests(int cycles) {
  for (int i = 0; i < cycles; ++i) {
    step("communicator freed first, cycle %d", i);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int in = rank, out = -1;
    MPI_Request request;
    forget_path();
    inits().Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
    expect_taken_nonblocking("init");
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(out == ranks * (ranks - 1) / 2, "%d in cycle %d", out, i);
    MPI_Comm_free(&comm);
    if (i % 3 == rank % 3) use(MPI_COMM_SELF, i);
    MPI_Request_free(&request);
  }
  use(MPI_COMM_WORLD, 3);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  if (!has_persistent()) return finish();
  warm_up(MPI_COMM_WORLD);
  freed_before_requests(argc > 2 ? std::atoi(argv[2]) : 100);
  many_at_a_time(static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 1000));
  // There must be memory left for other communicators.
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  CHECK(warm_up(comm), "path '%s'", path());
  use(comm, 5);
  MPI_Comm_free(&comm);
  return finish();
}
