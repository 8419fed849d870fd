// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/watch/clock_offset.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {
namespace {

constexpr int kRounds = 32, kTag = 1;

// The same for ranks that have one clock.
std::uint64_t own_clock() {
  char text[256] = "";
  gethostname(text, sizeof text - 1);
  const std::uint64_t host = hash_text(text);
  const ssize_t length = readlink("/proc/self/ns/time", text, sizeof text);
  return sumac_hash(text, length > 0 ? static_cast<std::size_t>(length) : 0, host);
}

std::uint64_t receive(int from, MPI_Comm comm) {
  std::uint64_t time = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  mpi.Irecv(&time, 1, MPI_UINT64_T, from, kTag, comm, &request);
  mpi.Wait(&request, MPI_STATUS_IGNORE);
  return time;
}

void send(std::uint64_t time, int to, MPI_Comm comm) {
  mpi.Send(&time, 1, MPI_UINT64_T, to, kTag, comm);
}

void answer(int from, MPI_Comm comm) {
  for (int i = 0; i < kRounds; ++i) {
    receive(from, comm);
    send(clock_ns(), from, comm);
  }
}

ClockOffset ask(MPI_Comm comm) {
  ClockOffset best;
  best.within = UINT64_MAX;
  for (int i = 0; i < kRounds; ++i) {
    const std::uint64_t before = clock_ns();
    send(before, 0, comm);
    const std::uint64_t theirs = receive(0, comm);
    const std::uint64_t way = (clock_ns() - before) / 2;
    if (way >= best.within) continue;
    best.at = before + way;
    best.offset = static_cast<std::int64_t>(theirs - best.at);
    best.within = way;
  }
  return best;
}

}  // namespace

ClockOffset measure_clock_offset(MPI_Comm comm) {
  int rank = 0, size = 1;
  // Of its own, so that no receive of the program's takes a message.
  MPI_Comm own = MPI_COMM_NULL;
  mpi.Comm_split(comm, 0, 0, &own);
  mpi.Comm_rank(own, &rank);
  mpi.Comm_size(own, &size);
  std::vector<std::uint64_t> clocks(static_cast<std::size_t>(size));
  const std::uint64_t clock = own_clock();
  mpi.Allgather(&clock, 1, MPI_UINT64_T, clocks.data(), 1, MPI_UINT64_T, own);
  ClockOffset offset{clock_ns(), 0, clock == clocks[0] ? 0 : UINT64_MAX};
  for (int r = 1; r < size; ++r) {
    const auto place = clocks.begin() + r;
    if (std::find(clocks.begin(), place, *place) != place) continue;
    if (rank == 0) answer(r, own);
    if (rank == r) offset = ask(own);
  }
  mpi.Comm_free(&own);
  return offset;
}

}  // namespace sumac
