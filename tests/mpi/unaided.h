// SPDX-License-Identifier: BSD-3-Clause
// For test programs of which some ranks, or all, run without Sumac.
#pragma once

#include "check.h"

namespace test {

inline void start_unaided(int& argc, char**& argv) {
  const char* seconds = std::getenv("SUMAC_TEST_SECONDS");
  signal(SIGALRM, on_alarm);
  if (seconds) alarm(static_cast<unsigned>(std::atoi(seconds)));
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

// Returns the program's exit status. Rank 0 prints how many ranks had Sumac.
inline int finish_unaided() {
  step("the end");
  const long own[3] = {checks, failures, is_active()};
  long all[3] = {};
  MPI_Allreduce(own, all, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) {
    std::printf("%s: %ld checks on %d ranks, %ld with Sumac, %ld failed\n",
                all[1] ? "FAILED" : "passed", all[0], ranks, all[2], all[1]);
  }
  return all[1] ? 1 : 0;
}

}  // namespace test
