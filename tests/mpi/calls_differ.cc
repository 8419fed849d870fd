// SPDX-License-Identifier: BSD-3-Clause
// Erroneous collectives: calls that differ between ranks, so that the ranks wait for each other for
// ever, or take each other's data for something else. The job must end with a line that names who
// called what. Started by calls_differ_test.sh, which expects the job to fail.
// calls_differ ONE OTHER: the last rank makes the other call. Without arguments: prints the calls.
#include <string_view>
#include <vector>

#include "check.h"

namespace {

std::vector<int> in(200000, 1), out(200000);

struct Named {
  const char* name;
  void (*call)();
};

void bcast(int count, int root) { MPI_Bcast(in.data(), count, MPI_INT, root, MPI_COMM_WORLD); }
void allreduce(int count, MPI_Datatype type, MPI_Op op) {
  MPI_Allreduce(in.data(), out.data(), count, type, op, MPI_COMM_WORLD);
}
void reduce(int count, int root) {
  MPI_Reduce(in.data(), out.data(), count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
}
void wait(MPI_Request request) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

const Named kCalls[] = {
    {"barrier", [] { MPI_Barrier(MPI_COMM_WORLD); }},
    {"bcast-few", [] { bcast(20, 0); }},
    {"bcast-other-root", [] { bcast(20, 1); }},
    {"bcast-lines", [] { bcast(180, 0); }},
    {"bcast-slots", [] { bcast(9000, 0); }},
    {"bcast-many", [] { bcast(100000, 0); }},
    {"allreduce", [] { allreduce(20, MPI_INT, MPI_SUM); }},
    {"allreduce-max", [] { allreduce(20, MPI_INT, MPI_MAX); }},
    {"allreduce-float", [] { allreduce(20, MPI_FLOAT, MPI_SUM); }},
    {"allreduce-slots", [] { allreduce(9000, MPI_INT, MPI_SUM); }},
    {"allreduce-many", [] { allreduce(100000, MPI_INT, MPI_SUM); }},
    {"reduce", [] { reduce(20, 0); }},
    {"reduce-other-root", [] { reduce(20, 1); }},
    {"reduce-slots", [] { reduce(9000, 0); }},
    {"allgather",
     [] { MPI_Allgather(in.data(), 20, MPI_INT, out.data(), 20, MPI_INT, MPI_COMM_WORLD); }},
    {"alltoall",
     [] { MPI_Alltoall(in.data(), 20, MPI_INT, out.data(), 20, MPI_INT, MPI_COMM_WORLD); }},
    {"reduce-scatter",
     [] { MPI_Reduce_scatter_block(in.data(), out.data(), 20, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }},
    {"ibcast",
     [] {
       MPI_Request request;
       MPI_Ibcast(in.data(), 30, MPI_INT, 0, MPI_COMM_WORLD, &request);
       wait(request);
     }},
    {"iallreduce",
     [] {
       MPI_Request request;
       MPI_Iallreduce(in.data(), out.data(), 30, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
       wait(request);
     }},
};

void call(std::string_view name) {
  for (const Named& each : kCalls) {
    if (name == each.name) return each.call();
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace test;
  if (argc == 1) {
    for (const Named& each : kCalls) std::puts(each.name);
    return 0;
  }
  start(argc, argv);
  warm_up(MPI_COMM_WORLD);
  call(argv[rank == ranks - 1 ? 2 : 1]);
  // Where nobody has waited for anybody: the next call in which somebody does.
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return finish();
}
