// SPDX-License-Identifier: BSD-3-Clause
// The function of a user-defined operation aborts the job from inside a reduction.
#include "check.h"

namespace {

void end_the_job(void*, void*, int*, MPI_Datatype*) { MPI_Abort(MPI_COMM_WORLD, 7); }

}  // namespace

int main(int argc, char** argv) {
  test::start(argc, argv);
  CHECK(test::warm_up(MPI_COMM_WORLD), "path '%s'", test::path());
  MPI_Op op;
  MPI_Op_create(end_the_job, 1, &op);
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
  std::puts("came back");
  return test::finish();
}
