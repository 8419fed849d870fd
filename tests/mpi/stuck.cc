// SPDX-License-Identifier: BSD-3-Clause
// A job that hangs on purpose: the last rank does not come to an all-reduce on a communicator
// called "rows" before somebody has made a file.
//   stuck sleeps|stopped|begun FILE
//     sleeps   computes, for what the MPI knows
//     stopped  by SIGSTOP; a child of its own lets it go on
//     begun    the same, after a nonblocking all-reduce has begun that others come to later
#include <sys/wait.h>
#include <time.h>

#include <string>
#include <vector>

#include "check.h"

namespace {

using namespace test;

void sleep_until(const char* file) {
  constexpr timespec kMoment{0, 20'000'000};
  while (access(file, F_OK) != 0) nanosleep(&kMoment, nullptr);
}

void be_stopped(const char* file) {
  const pid_t self = getpid(), child = fork();
  if (child == 0) {
    sleep_until(file);
    kill(self, SIGCONT);
    _exit(0);
  }
  raise(SIGSTOP);
  waitpid(child, nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const std::string how = argc > 1 ? argv[1] : "sleeps";
  const char* const file = argc > 2 ? argv[2] : "/";
  MPI_Comm rows;
  MPI_Comm_dup(MPI_COMM_WORLD, &rows);
  MPI_Comm_set_name(rows, "rows");
  for (int i = 0; i < 3; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(rows);
  }
  const bool late = rank == ranks - 1;
  if (late && how == "sleeps") sleep_until(file);
  if (late && how == "stopped") be_stopped(file);
  int data = 1, sum = 0;
  if (how == "begun") {
    std::vector<double> many(1 << 20);
    MPI_Request request;
    if (!late) sleep(1);
    MPI_Iallreduce(MPI_IN_PLACE, many.data(), 1 << 20, MPI_DOUBLE, MPI_SUM, rows, &request);
    if (late) be_stopped(file);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Allreduce(&data, &sum, 1, MPI_INT, MPI_SUM, rows);
  CHECK(sum == ranks, "%d", sum);
  MPI_Comm_free(&rows);
  return finish();
}
