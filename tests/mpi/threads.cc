// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: several threads, each of which makes, uses and frees communicators of its
// own all the time.
// threads ROUNDS
#include <thread>
#include <vector>

#include "cases.h"
#include "exercise.h"

namespace {

using namespace test;

constexpr int kThreads = 4;

void work(MPI_Comm comm, int thread, int rounds) {
  Random random(static_cast<std::uint64_t>(thread));
  int taken = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 20; ++i) use(comm, round + thread);
    taken += was_taken();
    Call large({.what = What::allreduce,
                .numbers = round % 2 ? &ints() : &doubles(),
                .counts = {1 + random.below(60000)},
                .seed = static_cast<std::uint64_t>(round)},
               group_of(comm));
    large.begin();
    large.check();
    MPI_Comm mine;
    if (round % 3 == 0) {
      MPI_Comm_dup(comm, &mine);
    } else {
      MPI_Comm_split(comm, 0, -rank, &mine);
    }
    use(mine, round);
    use(mine, round + 1);
    MPI_Comm_free(&mine);
    MPI_Barrier(comm);
  }
  CHECK(taken == rounds, "%d of %d rounds", taken, rounds);
}

}  // namespace

int main(int argc, char** argv) {
  const int provided = start(argc, argv, MPI_THREAD_MULTIPLE);
  if (provided != MPI_THREAD_MULTIPLE) {
    skip("this MPI does not grant MPI_THREAD_MULTIPLE");
    MPI_Finalize();
    return 0;
  }
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
  step("%d rounds in %d threads", rounds, kThreads);
  std::vector<MPI_Comm> comms(kThreads);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back(work, comms[static_cast<std::size_t>(t)], t, rounds);
  }
  for (std::thread& thread : threads) thread.join();
  use(MPI_COMM_WORLD, 1);
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  return finish();
}
