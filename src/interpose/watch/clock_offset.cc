// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/watch/profile.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/cpu.h"
#include "base/hash.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {
namespace {

constexpr int kRounds = 32, kTag = 1;

// Returns a word that is the same for ranks that have one clock.
std::uint64_t own_clock() {
  char text[256] = "";
  gethostname(text, sizeof text - 1);
  const std::uint64_t host = hash_text(text);
  const ssize_t length = readlink("/proc/self/ns/time", text, sizeof text);
  return sumac_hash(text, length > 0 ? static_cast<std::size_t>(length) : 0, host);
}

std::uint64_t receive(int from, MpiComm comm) {
  std::uint64_t time = 0;
  MpiRequest request = kMpi.request_null;
  mpi.Irecv(&time, 1, kMpi.uint64_t, from, kTag, comm, one(request));
  mpi.Wait(one(request), status_ignore());
  return time;
}

void send(std::uint64_t time, int to, MpiComm comm) {
  mpi.Send(&time, 1, kMpi.uint64_t, to, kTag, comm);
}

void answer(int from, MpiComm comm) {
  for (int i = 0; i < kRounds; ++i) {
    receive(from, comm);
    send(clock_ns(), from, comm);
  }
}

ClockOffset ask(MpiComm comm) {
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

ClockOffset measure_clock_offset(MpiComm comm) {
  int rank = 0, size = 1;
  // The messages have a communicator of their own, so that no receive of the program's takes one.
  MpiComm own = kMpi.comm_null;
  mpi.Comm_split(comm, 0, 0, one(own));
  mpi.Comm_rank(own, &rank);
  mpi.Comm_size(own, &size);
  std::vector<std::uint64_t> clocks(static_cast<std::size_t>(size));
  const std::uint64_t clock = own_clock();
  mpi.Allgather(&clock, 1, kMpi.uint64_t, clocks.data(), 1, kMpi.uint64_t, own);
  ClockOffset offset{clock_ns(), 0, clock == clocks[0] ? 0 : UINT64_MAX};
  for (int r = 1; r < size; ++r) {
    const auto place = clocks.begin() + r;
    if (std::find(clocks.begin(), place, *place) != place) continue;
    if (rank == 0) answer(r, own);
    if (rank == r) offset = ask(own);
  }
  mpi.Comm_free(one(own));
  return offset;
}

}  // namespace sumac
