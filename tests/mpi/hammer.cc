// SPDX-License-Identifier: BSD-3-Clause
// A random sequence, the same on all ranks, of all collectives, with random sizes, roots, types and
// communicators. Between calls each rank sleeps, yields or computes for a random time of its own.
// hammer ROUNDS [SEED] [CALLS] [MOST_BYTES]
#include <sched.h>

#include <cmath>
#include <vector>

#include "cases.h"

namespace {

using namespace test;

struct Watched : Group {
  unsigned long bits = 0;  // hash of all results so far: must be the same on all ranks
};

struct Limits {
  int calls = 400;
  std::size_t most_bytes = 200000;
};

class Hammer {
 public:
  Hammer(std::uint64_t seed, const Limits& limits)
      : shared_(seed), own_(seed * 1000 + static_cast<std::uint64_t>(rank)), limits_(limits) {}

  void round() {
    std::vector<Watched> groups;
    groups.push_back({group_of(MPI_COMM_WORLD)});
    for (int i = 0; i < 3; ++i) groups.push_back(split());
    for (int call = 0; call < limits_.calls; ++call) {
      const std::size_t which = shared_.below(4) < 2 ? 0 : shared_.below(groups.size());
      one_call(groups[which], call);
    }
    for (const Watched& group : groups) expect_agreement(group);
    for (std::size_t i = 1; i < groups.size(); ++i) MPI_Comm_free(&groups[i].comm);
  }

 private:
  // All decisions below come from shared_, whose state is the same on all ranks at every call.
  Watched split() {
    const int colors = 1 + static_cast<int>(shared_.below(2));
    const std::uint64_t salt = shared_.next();
    const auto color =
        static_cast<int>(mix(salt + static_cast<unsigned>(rank)) % static_cast<unsigned>(colors));
    const int key = salt % 2 ? -rank : rank;
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
    return {group_of(comm)};
  }

  void dawdle() {
    switch (own_.below(16)) {
      case 0:
        usleep(static_cast<useconds_t>(own_.below(300)));
        break;
      case 1:
      case 2:
        sched_yield();
        break;
      case 3:
        for (int i = 0; i < 2000; ++i) busy_ = mix(busy_);
    }
  }

  static void expect_agreement(const Watched& group) {
    unsigned long least = 0;
    native().Allreduce(&group.bits, &least, 1, MPI_UNSIGNED_LONG, MPI_MIN, group.comm);
    CHECK(group.bits == least, "%d ranks have different bits", group.size());
  }

  void one_call(Watched& group, int call) {
    const std::uint64_t kind = shared_.below(10), seed = shared_.next();
    const std::size_t bytes = some_size();
    const int root = static_cast<int>(shared_.below(1000));
    step("call %d: kind %d, %zu bytes, root %d of %d", call, static_cast<int>(kind), bytes,
         root % group.size(), group.size());
    // With fractions, sums over levels only approximate the serial ones, but all ranks must have
    // the same bits.
    whole_numbers() = seed >> 41 & 1;
    dawdle();
    const What what = kind == 0  ? What::barrier
                      : kind < 4 ? What::bcast
                      : kind < 7 ? What::allreduce
                                 : What::reduce;
    const Numbers& n = what == What::bcast ? test::bytes() : numbers_[seed % numbers_.size()];
    Case c{.what = what, .numbers = &n, .root = root % group.size(), .seed = seed};
    c.counts = {(n.size < 4 ? bytes * n.size / 4 : bytes) / n.size};
    // Debian's MPICH crashes in its own in-place MPI_Reduce when the root is not 0.
    c.in_place = (seed >> 40 & 1) != 0 && (what == What::allreduce || c.root == 0);
    c.misaligned[0] = seed >> 8 & 31;
    c.misaligned[1] = seed & 63;
    Call made(c, group);
    made.begin();
    made.check(step_text);
    if (what != What::allreduce || !was_taken()) return;
    const std::size_t all = made.receive_bytes();
    for (std::size_t i = 0; i < all; i += 1 + all / 256) {
      group.bits = mix(group.bits ^ made.received()[i]);
    }
  }

  // Mostly small sizes, of every magnitude up to 1 MiB.
  std::size_t some_size() {
    const std::uint64_t most = 1ull << shared_.below(21);
    return std::min<std::size_t>(shared_.below(most) + shared_.below(3), limits_.most_bytes);
  }

  // Sums of floating-point numbers must have the bits of a serial loop over the ranks, unless they
  // are fractions and were made in another order. Open MPI saturates sums of single bytes.
  template <class T>
  static Numbers sums(const char* name, MPI_Datatype type) {
    Numbers n = any_numbers<T>(name, type, MPI_SUM, Sum());
    n.stands_for = [](const unsigned char* got, const unsigned char* right) {
      if (std::is_integral_v<T>) return !was_taken();
      const bool any_order = !was_taken() || was_over_levels();
      T a, b;
      std::memcpy(&a, got, sizeof a);
      std::memcpy(&b, right, sizeof b);
      return any_order && !whole_numbers() && std::abs(a - b) < 1;
    };
    return n;
  }

  const std::vector<Numbers> numbers_{
      sums<double>("double sum", MPI_DOUBLE), sums<float>("float sum", MPI_FLOAT),
      any_numbers<int>("int max", MPI_INT, MPI_MAX, Max()),
      sums<signed char>("int8 sum", MPI_SIGNED_CHAR),
      any_numbers<unsigned short>("uint16 bxor", MPI_UNSIGNED_SHORT, MPI_BXOR, Bxor())};
  Random shared_, own_;
  std::uint64_t busy_ = 1;
  Limits limits_;
};

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 1;
  Limits limits;
  if (argc > 3) limits.calls = std::atoi(argv[3]);
  if (argc > 4) limits.most_bytes = std::strtoul(argv[4], nullptr, 0);
  for (int i = 0; i < rounds && failures == 0; ++i) {
    Hammer hammer(seed + static_cast<std::uint64_t>(i), limits);
    hammer.round();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_TAKEN();
  return finish();
}
