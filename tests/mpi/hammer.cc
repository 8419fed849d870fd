// SPDX-License-Identifier: BSD-3-Clause
// A random sequence, the same on all ranks, of all collectives, with random sizes, roots, types and
// communicators. Between calls each rank sleeps, yields or computes for a random time of its own.
// hammer ROUNDS [SEED] [CALLS] [MOST_BYTES]
#include <sched.h>

#include <cmath>
#include <vector>

#include "check.h"
#include "data.h"
#include "groups.h"

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
    if (kind == 0) {
      MPI_Barrier(group.comm);
    } else if (kind < 4) {
      bcast(group, bytes, root % group.size(), seed);
    } else if (kind < 7) {
      reduce_typed(group, bytes, -1, seed);
    } else {
      reduce_typed(group, bytes, root % group.size(), seed);
    }
  }

  // Mostly small sizes, of every magnitude up to 1 MiB.
  std::size_t some_size() {
    const std::uint64_t most = 1ull << shared_.below(21);
    return std::min<std::size_t>(shared_.below(most) + shared_.below(3), limits_.most_bytes);
  }

  static void bcast(const Group& group, std::size_t bytes, int root, std::uint64_t seed) {
    Buffer buffer(bytes, seed % 64);
    auto* data = buffer.as<unsigned char>();
    for (std::size_t i = 0; i < bytes; ++i) {
      data[i] = group.rank == root ? static_cast<unsigned char>(seed >> i % 56) : 0xee;
    }
    MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, root, group.comm);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      wrong += data[i] != static_cast<unsigned char>(seed >> i % 56);
    }
    CHECK(wrong == 0, "%zu of %zu bytes, '%s'; %s", wrong, bytes, path(), step_text);
    CHECK(buffer.guards_hold(), "%s", step_text);
  }

  static void reduce_typed(Watched& group, std::size_t bytes, int root, std::uint64_t seed) {
    switch (seed % 5) {
      case 0:
        return reduce<double, Sum>(group, bytes, root, seed, MPI_DOUBLE, MPI_SUM);
      case 1:
        return reduce<float, Sum>(group, bytes, root, seed, MPI_FLOAT, MPI_SUM);
      case 2:
        return reduce<int, Max>(group, bytes, root, seed, MPI_INT, MPI_MAX);
      case 3:
        return reduce<signed char, Sum>(group, bytes / 4, root, seed, MPI_SIGNED_CHAR, MPI_SUM);
      default:
        return reduce<unsigned short, Bxor>(group, bytes / 2, root, seed, MPI_UNSIGNED_SHORT,
                                            MPI_BXOR);
    }
  }

  // Element `i` of rank r's input. Every rank computes the inputs of all ranks, so this must be
  // cheap.
  template <class T>
  static T element(int r, std::size_t i, std::uint64_t seed) {
    const auto bits = (i * 37 + static_cast<std::size_t>(r) * 1009 + seed) % 8191;
    if constexpr (std::is_floating_point_v<T>) {
      if (whole_numbers()) return static_cast<T>(static_cast<int>(bits) - 4000);
      return static_cast<T>(bits) / T(7) - T(500);
    } else {
      return static_cast<T>(bits);
    }
  }

  // A root of -1 means an all-reduce. Sums of floating-point numbers must have the bits of a serial
  // loop over the ranks, unless they are fractions and were made over a hierarchy.
  template <class T, class Operation>
  static void reduce(Watched& group, std::size_t bytes, int root, std::uint64_t seed,
                     MPI_Datatype type, MPI_Op op) {
    const std::size_t count = bytes / sizeof(T);
    const bool gets_result = root < 0 || group.rank == root;
    const bool in_place = seed >> 40 & 1 && gets_result && is_safe_in_place(root);
    const int own = group.members[static_cast<std::size_t>(group.rank)];
    Buffer send(in_place ? 0 : bytes, seed >> 8 & 31), receive(gets_result ? bytes : 0, seed & 63);
    T* input = in_place ? receive.as<T>() : send.as<T>();
    for (std::size_t i = 0; i < count; ++i) put(input, i, element<T>(own, i, seed));
    const void* from = in_place ? MPI_IN_PLACE : send.data();
    const int n = static_cast<int>(count);
    if (root < 0) {
      MPI_Allreduce(from, receive.data(), n, type, op, group.comm);
    } else {
      MPI_Reduce(from, gets_result ? receive.data() : nullptr, n, type, op, root, group.comm);
    }
    CHECK(send.guards_hold() && receive.guards_hold(), "%s", step_text);
    if (!gets_result) return;
    if (root < 0 && was_taken()) {
      for (std::size_t i = 0; i < count * sizeof(T); i += 1 + bytes / 256) {
        group.bits = mix(group.bits ^ receive.as<unsigned char>()[i]);
      }
    }
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      T expected = element<T>(group.members[0], i, seed);
      for (std::size_t r = 1; r < group.members.size(); ++r) {
        expected = Operation()(expected, element<T>(group.members[r], i, seed));
      }
      wrong += !is_right(get(receive.as<T>(), i), expected);
    }
    CHECK(wrong == 0, "%zu of %zu elements, '%s'; %s", wrong, count, path(), step_text);
  }

  // Debian's MPICH crashes in its own in-place MPI_Reduce when the root is not 0.
  static bool is_safe_in_place(int root) { return root <= 0; }

  template <class T>
  static void put(T* array, std::size_t i, T x) {
    std::memcpy(array + i, &x, sizeof x);
  }
  template <class T>
  static T get(const T* array, std::size_t i) {
    T x;
    std::memcpy(&x, array + i, sizeof x);
    return x;
  }
  template <class T>
  static bool is_right(T found, T expected) {
    if constexpr (std::is_floating_point_v<T>) {
      const bool any_order = !was_taken() || was_over_levels();
      if (any_order && !whole_numbers()) return std::abs(found - expected) < T(1);
    }
    // Open MPI saturates sums of single bytes.
    return found == expected || (sizeof(T) == 1 && !was_taken());
  }

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
