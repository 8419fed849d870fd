// SPDX-License-Identifier: BSD-3-Clause
// How many bytes a collective sends over the links of two hosts: never more than the MPI's own, and
// no more than the best algorithm needs plus 8 % for headers. That is n bytes each way for an
// all-reduce of n bytes, n for a broadcast.
// traffic
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "../mpi/check.h"

namespace {

using namespace test;

// Bytes that this host has sent and received since its link was set up.
std::uint64_t link_bytes() {
  std::uint64_t sum = 0;
  for (const char* name : {"rx", "tx"}) {
    char file[80];
    std::snprintf(file, sizeof file, "/sys/class/net/eth0/statistics/%s_bytes", name);
    unsigned long long bytes = 0;
    if (std::FILE* stream = std::fopen(file, "re")) {
      if (std::fscanf(stream, "%llu", &bytes) != 1) bytes = 0;
      std::fclose(stream);
    }
    CHECK(bytes > 0, "%s", file);
    sum += bytes;
  }
  return sum;
}

using Call = std::function<void(std::vector<float>& in, std::vector<float>& out)>;

// Bytes on this host's link for `times` calls and the barriers around them; sometimes more, because
// the network sends packets again.
double bytes_of(const Call& call, std::size_t bytes, int times) {
  std::vector<float> in(bytes / sizeof(float), 1.0f), out(in.size());
  for (int i = 0; i < 3; ++i) call(in, out);
  native().Barrier(MPI_COMM_WORLD);
  usleep(50000);  // waits for late acknowledgements
  const std::uint64_t before = link_bytes();
  native().Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < times; ++i) call(in, out);
  native().Barrier(MPI_COMM_WORLD);
  usleep(50000);
  return static_cast<double>(link_bytes() - before);
}

void compare(const char* name, const Call& ours, const Call& theirs, double least_per_byte) {
  for (std::size_t bytes : {64u << 10, 1u << 20, 4u << 20}) {
    const int times = bytes > 1 << 20 ? 4 : bytes > 64 << 10 ? 10 : 60;
    step("%s of %zu bytes", name, bytes);
    const double nothing = bytes_of(ours, bytes, 0);
    double own = bytes_of(ours, bytes, times);
    for (int again = 0; again < 2; ++again) own = std::min(own, bytes_of(ours, bytes, times));
    own -= nothing;
    const bool taken = was_taken();
    const double mpi = bytes_of(theirs, bytes, times) - nothing;
    const double message = static_cast<double>(bytes) * times, noise = 20000;
    if (rank == 0) {
      std::printf("%s of %zu bytes: %.3f times its size on the link, the MPI %.3f, '%s'\n", name,
                  bytes, own / message, mpi / message, path());
    }
    CHECK(own <= mpi * 1.08 + noise, "%s of %zu: more bytes than the MPI", name, bytes);
    CHECK(taken, "%s of %zu: '%s'", name, bytes, path());
    CHECK(own <= least_per_byte * message * 1.08 + noise, "%s of %zu", name, bytes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  const auto size = [](const std::vector<float>& v) { return static_cast<int>(v.size()); };
  compare(
      "allreduce",
      [&](auto& in, auto& out) {
        MPI_Allreduce(in.data(), out.data(), size(in), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      },
      [&](auto& in, auto& out) {
        native().Allreduce(in.data(), out.data(), size(in), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      },
      2);
  compare(
      "bcast",
      [&](auto& in, auto&) { MPI_Bcast(in.data(), size(in), MPI_FLOAT, 0, MPI_COMM_WORLD); },
      [&](auto& in, auto&) { native().Bcast(in.data(), size(in), MPI_FLOAT, 0, MPI_COMM_WORLD); },
      1);
  compare(
      "reduce",
      [&](auto& in, auto& out) {
        MPI_Reduce(in.data(), out.data(), size(in), MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
      },
      [&](auto& in, auto& out) {
        native().Reduce(in.data(), out.data(), size(in), MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
      },
      1);
  return finish();
}
