// SPDX-License-Identifier: BSD-3-Clause
// All collectives over ranks of several hosts: many sizes, every root, in place and not, in
// communicators of many shapes. Most numbers are whole, so there is one right result in every
// order. Where the order matters, all ranks must have the same bits. nodes [MOST_BYTES]
#include <algorithm>
#include <ctime>
#include <numeric>
#include <vector>

#include "../mpi/cases.h"

namespace {

using namespace test;

// Sizes in bytes: within a cache line, within slots, and in several chunks.
std::vector<std::size_t> counts(const Numbers& n, std::size_t most) {
  std::vector<std::size_t> fit{most / n.size};
  for (const std::size_t bytes :
       {0u,     1u,     8u,     48u,    56u,     64u,     1000u,   1792u,   4096u,    8200u,
        16384u, 40000u, 65536u, 65544u, 100000u, 131080u, 262152u, 524288u, 1000000u, 1048584u}) {
    if (bytes <= most) fit.push_back(bytes / n.size);
  }
  return fit;
}

// All-reduces in place and not, others one or the other.
void sweep(const Group& group, const std::vector<What>& whats, const Numbers& n, std::size_t most) {
  std::vector<int> roots(group.members.size());
  std::iota(roots.begin(), roots.end(), 0);
  const Sweep all{.whats = whats,
                  .numbers = {&n},
                  .counts = counts(n, most),
                  .in_place = {false, true},
                  .roots = roots};
  all.for_each([&](Case& c, std::uint64_t turn) {
    const std::size_t count = c.counts[0];
    const auto one = static_cast<int>(turn / roots.size() % roots.size());
    if (rooted(c.what) && c.in_place != (count % 2 == 0)) return;
    if (count * n.size > 64 && c.root != 0 && c.root != one) return;
    c.misaligned[0] = count % 3;
    c.misaligned[1] = count % 5 * n.size % 64;
    Call(c, group).run(Served::by_sumac);
  });
}

// Numbers whose sum depends on the order of additions: close to the serial sum, with the same bits
// on all ranks.
void sums_agree(const Group& group, std::size_t count) {
  whole_numbers() = false;
  const auto sum = any_numbers<float>("float sum", MPI_FLOAT, MPI_SUM, Sum());
  const Numbers close = roughly<float>(sum, 1.0f);  // the terms are up to 16384
  Call call({.what = What::allreduce, .numbers = &close, .counts = {count}}, group);
  call.run(Served::by_sumac);
  const auto* const bits = call.received();
  const std::uint64_t own = std::accumulate(bits, bits + call.receive_bytes(), std::uint64_t{0},
                                            [](std::uint64_t all, auto b) { return mix(all ^ b); });
  std::uint64_t least = 0;
  native().Allreduce(&own, &least, 1, MPI_UINT64_T, MPI_MIN, group.comm);
  CHECK(own == least, "ranks have different bits");
  whole_numbers() = true;
}

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);  // all hosts of a lab share this clock
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// No rank may leave a barrier before the last has entered.
void barriers(const Group& group) {
  for (int late = 0; late < group.size(); ++late) {
    step("barrier, rank %d is late", late);
    if (group.rank == late) usleep(3000);
    const double came = now();
    MPI_Barrier(group.comm);
    CHECK_TAKEN();
    const double went = now();
    double last_came = 0, first_went = 0;
    native().Allreduce(&came, &last_came, 1, MPI_DOUBLE, MPI_MAX, group.comm);
    native().Allreduce(&went, &first_went, 1, MPI_DOUBLE, MPI_MIN, group.comm);
    CHECK(last_came <= first_went, "left %g s too early, '%s'", last_came - first_went, path());
  }
}

// Tests a communicator of these ranks, with fewer sizes than for all ranks.
void part(int color, int key) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
  if (comm == MPI_COMM_NULL) return;
  const Group group = group_of(comm);
  CHECK(warm_up(comm), "%d ranks, path '%s'", group.size(), path());
  sweep(group, {What::allreduce, What::reduce}, doubles(), 40000);
  sweep(group, {What::bcast}, bytes(), 40000);
  sums_agree(group, 3000);
  barriers(group);
  MPI_Comm_free(&comm);
}

void parts() {
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  const Group here = group_of(node);
  part(here.rank, rank);                              // one rank of each host
  part(0, -rank);                                     // all ranks, in reverse order
  part(rank % 2, rank);                               // every second rank
  part(rank == ranks / 2 ? MPI_UNDEFINED : 0, rank);  // all ranks but one
  int first = rank;
  MPI_Bcast(&first, 1, MPI_INT, 0, node);
  part(first, rank);  // the ranks of one host
  MPI_Comm_free(&node);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const std::size_t most = argc > 1 ? std::strtoul(argv[1], nullptr, 0) : 3 << 20;
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  whole_numbers() = true;
  const std::pair<Numbers, std::size_t> rows[] = {
      {any_numbers<float>("float sum", MPI_FLOAT, MPI_SUM, Sum()), most},
      {any_numbers<double>("double max", MPI_DOUBLE, MPI_MAX, Max()), 70000},
      {any_numbers<signed char>("int8 sum", MPI_SIGNED_CHAR, MPI_SUM, Sum()), 5000},
      {any_numbers<unsigned short>("uint16 bxor", MPI_UNSIGNED_SHORT, MPI_BXOR, Bxor()), 20000},
      {any_numbers<long>("int64 min", MPI_LONG, MPI_MIN, Min()), 20000}};
  for (const auto& [n, bytes] : rows) sweep(world(), {What::allreduce, What::reduce}, n, bytes);
  sweep(world(), {What::bcast}, bytes(), most);
  for (std::size_t count : {1u, 100u, 20000u, 300000u}) sums_agree(world(), count);
  barriers(world());
  parts();
  return finish();
}
