// SPDX-License-Identifier: BSD-3-Clause
// goes_on FILE: collectives, also on new communicators, until the file is there, or for 30 s. Each
// rank prints its process.
#include <time.h>

#include "lacks.h"

int main(int argc, char** argv) {
  using namespace test;
  start(argc, argv);
  CHECK(warm_up(MPI_COMM_WORLD), "'%s'", path());
  std::printf("process %d\n", getpid());
  std::fflush(stdout);
  const time_t began = time(nullptr);
  for (int i = 0; argc > 1; ++i) {
    step("round %d", i);
    use(MPI_COMM_WORLD, i);
    CHECK_TAKEN();
    if (i % 16 == 0) CHECK(use_new(i), "'%s'", path());
    usleep(1000);
    if (on_any(rank == 0 && (access(argv[1], F_OK) == 0 || time(nullptr) - began > 30))) break;
  }
  return finish();
}
