// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking and persistent operations must not leak memory: after a warm-up, many more cycles may
// only need a little more.
// memory [CYCLES]
#include <sched.h>

#include <array>
#include <vector>

#include "persistent.h"
#include "process_size.h"

namespace {

using namespace test;

constexpr long kTolerance = 256;  // KiB; 40000 leaked pointers would exceed it

constexpr int kMost = 12000;  // ints: enough to use several algorithms

struct Buffers {
  std::vector<int> in = std::vector<int>(kMost, 1), out = std::vector<int>(kMost);
  std::vector<int> word = std::vector<int>(kMost), sum = std::vector<int>(kMost);
};

int count_of(int cycle) { return cycle % 64 == 0 ? kMost : cycle % 8 == 0 ? 1000 : cycle % 40; }

void nonblocking(Buffers& b, int cycle) {
  std::array<MPI_Request, 4> requests;
  const int n = count_of(cycle);
  forget_path();
  MPI_Iallreduce(b.in.data(), b.out.data(), n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  expect_taken_nonblocking("Iallreduce");
  MPI_Ibcast(b.word.data(), n, MPI_INT, cycle % ranks, MPI_COMM_WORLD, &requests[1]);
  MPI_Ireduce(b.in.data(), b.sum.data(), n, MPI_INT, MPI_SUM, cycle % ranks, MPI_COMM_WORLD,
              &requests[2]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[3]);
  if (cycle % 2) {
    MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
  } else {
    for (int flag = 0; !flag; sched_yield()) {
      MPI_Testall(4, requests.data(), &flag, MPI_STATUSES_IGNORE);
    }
  }
  CHECK(n == 0 || b.out[0] == ranks, "%d", b.out[0]);
}

void started_again(const Buffers& b, std::array<MPI_Request, 2>& requests) {
  MPI_Startall(2, requests.data());
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  CHECK(b.out[0] == ranks, "%d", b.out[0]);
}

void made_again(Buffers& b, int cycle) {
  MPI_Request request;
  inits().Bcast(b.word.data(), count_of(cycle), MPI_INT, cycle % ranks, MPI_COMM_WORLD,
                MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}

// Open MPI's own operations leak about 100 bytes each.
#ifdef OPEN_MPI
constexpr bool kMpiLeavesNothing = false;
#else
constexpr bool kMpiLeavesNothing = true;
#endif

template <class Cycle>
void expect_no_growth(const char* what, int cycles, Cycle cycle) {
  long before = 0;
  const int warm = cycles / 5;
  for (int i = 0; i < warm + cycles; ++i) {
    if (i == warm) before = process_size().kilobytes;
    if (i % 100 == 0) step("%s, cycle %d", what, i);
    cycle(i);
    if (i % 64 == 0) MPI_Barrier(MPI_COMM_WORLD);  // limits how far a rank runs ahead
  }
  const long grown = process_size().kilobytes - before;
  CHECK(before > 0 && grown <= kTolerance, "%s: %ld KiB more after %d cycles", what, grown, cycles);
  if (rank == 0) std::printf("%s: %ld KiB more after %d cycles\n", what, grown, cycles);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const int cycles = argc > 1 ? std::atoi(argv[1]) : 20000;
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  Buffers buffers;
  expect_no_growth("nonblocking", cycles, [&](int i) { nonblocking(buffers, i); });
  if (!has_persistent()) return finish();
  std::array<MPI_Request, 2> requests;
  inits().Allreduce(buffers.in.data(), buffers.out.data(), 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                    MPI_INFO_NULL, &requests[0]);
  inits().Barrier(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  expect_no_growth("persistent", cycles, [&](int) { started_again(buffers, requests); });
  for (MPI_Request& request : requests) MPI_Request_free(&request);
  if (kMpiLeavesNothing || require_taken) {
    expect_no_growth("made again", cycles, [&](int i) { made_again(buffers, i); });
  }
  return finish();
}
