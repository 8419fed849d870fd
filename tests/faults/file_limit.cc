// SPDX-License-Identifier: BSD-3-Clause
// The limit of the sizes of files (ulimit -f) sinks to nothing while communicators are made: no
// signal ends the program, those are served for which shared memory can be had, and what Sumac
// writes at the end fails without harm.
#include <sys/resource.h>

#include "lacks.h"

namespace {

using namespace test;

void set_limit(rlim_t bytes) {
  rlimit limit = {};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0, "%llu", static_cast<unsigned long long>(bytes));
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  CHECK(warm_up(MPI_COMM_WORLD), "nothing is served: '%s'", path());
  std::vector<MPI_Comm> alive;  // so that no shared memory can be had again
  int served = 0;
  for (rlim_t bytes = 64 << 20;; bytes /= 2) {
    step("%llu bytes", static_cast<unsigned long long>(bytes));
    set_limit(bytes);
    alive.emplace_back();
    MPI_Comm_dup(MPI_COMM_WORLD, &alive.back());
    for (int i = 0; i < 3; ++i) use(alive.back(), i);
    const bool taken = was_taken();
    CHECK(on_all(taken) || on_all(!taken), "ranks do not agree: '%s'", path());
    if (!taken) CHECK_HANDED_DOWN("shared memory is full or refused");
    served += taken;
    use_much(alive.back(), 1);
    use_much(MPI_COMM_WORLD, 2);
    CHECK_TAKEN();
    if (bytes == 0) break;
  }
  CHECK(served > 0 && served < static_cast<int>(alive.size()), "%d served", served);
  if (rank == 0) std::printf("%d of %zu communicators served\n", served, alive.size());
  for (MPI_Comm& comm : alive) MPI_Comm_free(&comm);
  return finish();
}
