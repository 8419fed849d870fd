// SPDX-License-Identifier: BSD-3-Clause
// The calls that the OSU micro-benchmarks make by default: blocking and nonblocking all-reduces,
// reductions and broadcasts of MPI_CHAR, from one byte to 1 MiB, with warm-up calls and barriers in
// between. This program checks results only; how the calls were served is in the statistics.
#include <algorithm>
#include <vector>

#include "check.h"

namespace {

using namespace test;

constexpr std::size_t kMostBytes = 1 << 20;
constexpr int kCalls = 4;
std::vector<char> in(kMostBytes), out(kMostBytes);
int n = 0;

void check_results(const char* call, bool has_result, char each) {
  const auto end = out.begin() + n;
  CHECK(!has_result || std::all_of(out.begin(), end, [=](char c) { return c == each; }),
        "%s of %d bytes", call, n);
}

template <class Call>
void repeat(const char* name, bool has_result, char each, Call call) {
  step("%s of %d bytes", name, n);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kCalls; ++i) {
    std::fill(in.begin(), in.end(), static_cast<char>(1));
    std::fill(out.begin(), out.end(), static_cast<char>(rank == 0 ? each : 0));
    call();
    check_results(name, has_result, each);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

void run_size() {
  const auto all = static_cast<char>(ranks);
  const MPI_Comm world = MPI_COMM_WORLD;
  MPI_Request request;
  repeat("allreduce", true, all,
         [&] { MPI_Allreduce(in.data(), out.data(), n, MPI_CHAR, MPI_SUM, world); });
  repeat("reduce", rank == 0, all,
         [&] { MPI_Reduce(in.data(), out.data(), n, MPI_CHAR, MPI_SUM, 0, world); });
  repeat("bcast", true, 5, [&] { MPI_Bcast(out.data(), n, MPI_CHAR, 0, world); });
  repeat("iallreduce", true, all, [&] {
    MPI_Iallreduce(in.data(), out.data(), n, MPI_CHAR, MPI_SUM, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
  repeat("ireduce", rank == 0, all, [&] {
    MPI_Ireduce(in.data(), out.data(), n, MPI_CHAR, MPI_SUM, 0, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
  repeat("ibcast", true, 5, [&] {
    MPI_Ibcast(out.data(), n, MPI_CHAR, 0, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  for (std::size_t bytes = 1; bytes <= kMostBytes; bytes *= 2) {
    n = static_cast<int>(bytes);
    run_size();
  }
  return finish();
}
