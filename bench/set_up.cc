// SPDX-License-Identifier: BSD-3-Clause
#include "set_up.h"

namespace sumac::bench {
namespace {

// Until Sumac serves a communicator, and one more.
constexpr int kCalls = 4;

double first_calls_us(const World& world, MPI_Comm comm) {
  world.native.barrier(world.control);
  const double begin = MPI_Wtime();
  for (int i = 0; i < kCalls; i++) world.called.barrier(comm);
  const double own = (MPI_Wtime() - begin) * 1e6;
  double longest = 0;
  world.native.reduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, world.control);
  return longest;
}

}  // namespace

SetUp set_up(const World& world) {
  SetUp result;
  result.first = first_calls_us(world, world.comm);
  // The first of its kind may still load or map something.
  for (int i = 0; i < 2; i++) {
    MPI_Comm other;
    MPI_Comm_dup(world.comm, &other);
    result.next = first_calls_us(world, other);
    MPI_Comm_free(&other);
  }
  return result;
}

}  // namespace sumac::bench
