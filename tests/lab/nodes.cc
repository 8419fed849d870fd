// SPDX-License-Identifier: BSD-3-Clause
// All collectives over ranks of several hosts: many sizes, every root, in place and not, in
// communicators of many shapes. Most sums are exact in any order, so there is one right result.
// Where the order matters, all ranks must have the same bits.
// nodes [MOST_BYTES]
#include <algorithm>
#include <cmath>
#include <ctime>
#include <vector>

#include "../mpi/check.h"
#include "../mpi/data.h"

namespace {

using namespace test;

struct Group {
  MPI_Comm comm;
  int rank, size;
};

Group group_of(MPI_Comm comm) {
  Group group{comm, 0, 0};
  MPI_Comm_rank(comm, &group.rank);
  MPI_Comm_size(comm, &group.size);
  return group;
}

// Small whole numbers: the sum over all ranks is exact in a float, and 16 of them fit into a byte.
template <class T>
T small(int r, std::size_t i) {
  return static_cast<T>(mix(i * 64 + static_cast<unsigned>(r)) % 8);
}

template <class T, class Operation>
std::vector<T> fold(const Group& group, std::size_t count) {
  std::vector<T> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    result[i] = small<T>(0, i);
    for (int r = 1; r < group.size; ++r) result[i] = Operation()(result[i], small<T>(r, i));
  }
  return result;
}

// One reduction. A root of -1 means an all-reduce.
template <class T>
void reduce(const Group& group, MPI_Datatype type, MPI_Op op, const std::vector<T>& expected,
            int root, bool in_place) {
  const std::size_t count = expected.size(), bytes = count * sizeof(T);
  const bool gets_result = root < 0 || group.rank == root;
  if (root > 0 || !gets_result) in_place = false;  // Debian's MPICH crashes at other roots
  Buffer send(bytes, count % 3), receive(gets_result ? bytes : 0, count % 5 * sizeof(T));
  auto* input = in_place ? receive.as<unsigned char>() : send.as<unsigned char>();
  for (std::size_t i = 0; i < count; ++i) {
    const T element = small<T>(group.rank, i);
    std::memcpy(input + i * sizeof(T), &element, sizeof element);
  }
  const void* from = in_place ? MPI_IN_PLACE : send.data();
  const int n = static_cast<int>(count);
  if (root < 0) {
    MPI_Allreduce(from, receive.data(), n, type, op, group.comm);
  } else {
    MPI_Reduce(from, gets_result ? receive.data() : nullptr, n, type, op, root, group.comm);
  }
  CHECK_TAKEN();
  CHECK(send.guards_hold() && receive.guards_hold(), "%s, '%s'", step_text, path());
  if (!gets_result || bytes == 0) return;
  CHECK(std::memcmp(receive.data(), expected.data(), bytes) == 0, "%s, %zu elements, '%s'",
        step_text, count, path());
}

void bcast(const Group& group, std::size_t bytes, int root) {
  step("bcast of %zu bytes from %d of %d", bytes, root, group.size);
  Buffer buffer(bytes, bytes % 7 * static_cast<std::size_t>(group.rank + 1) % 64);
  auto* data = buffer.as<unsigned char>();
  const auto byte = [&](std::size_t i) { return value<unsigned char>(root, i, bytes); };
  for (std::size_t i = 0; i < bytes; ++i) data[i] = group.rank == root ? byte(i) : 0xee;
  MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, root, group.comm);
  CHECK_TAKEN();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < bytes; ++i) wrong += data[i] != byte(i);
  CHECK(wrong == 0 && buffer.guards_hold(), "%s: %zu wrong, '%s'", step_text, wrong, path());
}

// Sizes in bytes: within a cache line, within slots, and in several chunks.
std::vector<std::size_t> sizes(std::size_t most) {
  std::vector<std::size_t> fit;
  for (const std::size_t bytes :
       {0u,     1u,     8u,     48u,    56u,     64u,     1000u,   1792u,   4096u,    8200u,
        16384u, 40000u, 65536u, 65544u, 100000u, 131080u, 262152u, 524288u, 1000000u, 1048584u}) {
    if (bytes <= most) fit.push_back(bytes);
  }
  fit.push_back(most);
  return fit;
}

bool wants_root(const Group& group, int root, std::size_t bytes, std::size_t turn) {
  return bytes <= 64 || root == 0 || root == static_cast<int>(turn) % group.size;
}

template <class T, class Operation>
void sweep(const Group& group, const char* name, MPI_Datatype type, MPI_Op op, std::size_t most) {
  std::size_t turn = 0;
  for (std::size_t bytes : sizes(most)) {
    const std::vector<T> expected = fold<T, Operation>(group, bytes / sizeof(T));
    step("allreduce, %s, %zu bytes, %d ranks", name, bytes, group.size);
    for (bool in_place : {false, true}) reduce(group, type, op, expected, -1, in_place);
    ++turn;
    for (int root = 0; root < group.size; ++root) {
      if (!wants_root(group, root, bytes, turn)) continue;
      step("reduce, %s, %zu bytes, to %d of %d", name, bytes, root, group.size);
      reduce(group, type, op, expected, root, turn % 2 == 0);
    }
  }
}

void sweep_bcast(const Group& group, std::size_t most) {
  std::size_t turn = 0;
  for (std::size_t bytes : sizes(most)) {
    ++turn;
    for (int root = 0; root < group.size; ++root) {
      if (wants_root(group, root, bytes, turn)) bcast(group, bytes, root);
    }
  }
}

// Numbers whose sum depends on the order of additions: close to the MPI's sum, with the same bits
// on all ranks.
void sums_agree(const Group& group, std::size_t count) {
  step("sums of %zu floats", count);
  std::vector<float> in(count), ours(count), theirs(count);
  for (std::size_t i = 0; i < count; ++i) in[i] = value<float>(group.rank, i, count);
  const int n = static_cast<int>(count);
  MPI_Allreduce(in.data(), ours.data(), n, MPI_FLOAT, MPI_SUM, group.comm);
  CHECK_TAKEN();
  native().Allreduce(in.data(), theirs.data(), n, MPI_FLOAT, MPI_SUM, group.comm);
  std::size_t far = 0;
  unsigned long own = 0, least = 0;
  for (std::size_t i = 0; i < count; ++i) {
    far += !(std::abs(ours[i] - theirs[i]) <= 1.0f);  // the terms are up to 16384
    unsigned bits;
    std::memcpy(&bits, &ours[i], sizeof bits);
    own = mix(own ^ bits);
  }
  CHECK(far == 0, "%zu of %zu, '%s'", far, count, path());
  native().Allreduce(&own, &least, 1, MPI_UNSIGNED_LONG, MPI_MIN, group.comm);
  CHECK(own == least, "ranks have different bits");
}

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);  // all hosts of a lab share this clock
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// No rank may leave a barrier before the last has entered.
void barriers(const Group& group) {
  for (int late = 0; late < group.size; ++late) {
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
  CHECK(warm_up(comm), "%d ranks, path '%s'", group.size, path());
  sweep<double, Sum>(group, "double sum", MPI_DOUBLE, MPI_SUM, 40000);
  sweep_bcast(group, 40000);
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
  const Group world = group_of(MPI_COMM_WORLD);
  sweep<float, Sum>(world, "float sum", MPI_FLOAT, MPI_SUM, most);
  sweep<double, Max>(world, "double max", MPI_DOUBLE, MPI_MAX, 70000);
  sweep<signed char, Sum>(world, "int8 sum", MPI_SIGNED_CHAR, MPI_SUM, 5000);
  sweep<unsigned short, Bxor>(world, "uint16 bxor", MPI_UNSIGNED_SHORT, MPI_BXOR, 20000);
  sweep<long, Min>(world, "int64 min", MPI_LONG, MPI_MIN, 20000);
  sweep_bcast(world, most);
  for (std::size_t count : {1u, 100u, 20000u, 300000u}) sums_agree(world, count);
  barriers(world);
  parts();
  return finish();
}
