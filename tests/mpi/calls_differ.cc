// SPDX-License-Identifier: BSD-3-Clause
// Erroneous collectives: calls that differ between ranks, so that the ranks wait for each other for
// ever, or take each other's data for something else. The job must end with a line that names who
// called what. Started by endings.sh, which expects the job to fail.
// calls_differ ONE OTHER: the last rank makes the other call. Without arguments: prints the calls.
#include <string_view>
#include <vector>

#include "cases.h"

namespace {

using namespace test;

struct Named {
  const char* name;
  Case call;
};

std::vector<Named> calls() {
  static const Numbers most = whole_kinds()[0];
  static const Numbers floats = any_numbers<float>("float sum", MPI_FLOAT, MPI_SUM, Sum());
  constexpr Form kNonblocking = Form::nonblocking;
  return {{"barrier", {.what = What::barrier}},
          {"bcast-few", {.what = What::bcast, .counts = {20}}},
          {"bcast-other-root", {.what = What::bcast, .counts = {20}, .root = 1}},
          {"bcast-lines", {.what = What::bcast, .counts = {180}}},
          {"bcast-slots", {.what = What::bcast, .counts = {9000}}},
          {"bcast-many", {.what = What::bcast, .counts = {100000}}},
          {"allreduce", {.what = What::allreduce, .counts = {20}}},
          {"allreduce-max", {.what = What::allreduce, .numbers = &most, .counts = {20}}},
          {"allreduce-float", {.what = What::allreduce, .numbers = &floats, .counts = {20}}},
          {"allreduce-slots", {.what = What::allreduce, .counts = {9000}}},
          {"allreduce-many", {.what = What::allreduce, .counts = {100000}}},
          {"reduce", {.what = What::reduce, .counts = {20}}},
          {"reduce-other-root", {.what = What::reduce, .counts = {20}, .root = 1}},
          {"reduce-slots", {.what = What::reduce, .counts = {9000}}},
          {"allgather", {.what = What::allgather, .counts = {20}}},
          {"alltoall", {.what = What::alltoall, .counts = {20}}},
          {"reduce-scatter", {.what = What::reduce_scatter_block, .counts = {20}}},
          {"ibcast", {.what = What::bcast, .counts = {30}, .form = kNonblocking}},
          {"iallreduce", {.what = What::allreduce, .counts = {30}, .form = kNonblocking}}};
}

void call(std::string_view name) {
  for (const Named& each : calls()) {
    if (name != each.name) continue;
    Call made(each.call);
    made.begin();
    return made.wait();
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) {
    for (const Named& each : calls()) std::puts(each.name);
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
