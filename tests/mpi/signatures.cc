// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts in which every rank describes the same message by another type. The bytes between the
// elements must not change.
#include <functional>
#include <numeric>

#include "check.h"
#include "data.h"

namespace {

using namespace test;

// One way to describe n integers: the arguments of the call, and where the k-th integer is in
// `memory`.
struct Description {
  void* address = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_INT;
  std::function<std::size_t(std::size_t)> place;
};

using Describe = std::function<Description(std::vector<int>& memory, int n)>;
constexpr std::size_t kStart = 16;  // index in `memory` of the first integer

Description predefined(std::vector<int>& memory, int n) {
  return {&memory[kStart], n, MPI_INT, [](std::size_t k) { return kStart + k; }};
}

Description contiguous(std::vector<int>& memory, int n) {
  Description d = predefined(memory, n);
  d.count = 1;
  MPI_Type_contiguous(n, MPI_INT, &d.type);
  return d;
}

// A few elements of a large type on some ranks, many of a small one on others.
Description contiguous_quarters(std::vector<int>& memory, int n) {
  Description d = predefined(memory, n);
  d.count = 4;
  MPI_Type_contiguous(n / 4, MPI_INT, &d.type);
  return d;
}

Description vector(std::vector<int>& memory, int n) {
  Description d{&memory[kStart], 1, MPI_INT, [](std::size_t k) { return kStart + 3 * k; }};
  MPI_Type_vector(n, 1, 3, MPI_INT, &d.type);
  return d;
}

Description vectors(std::vector<int>& memory, int n) {
  Description d{&memory[kStart], 2, MPI_INT, {}};
  MPI_Datatype one;
  MPI_Type_vector(n / 4, 2, 3, MPI_INT, &one);
  MPI_Type_create_resized(one, 0, 3 * (n / 4) * 4, &d.type);
  MPI_Type_free(&one);
  d.place = [](std::size_t k) { return kStart + k / 2 * 3 + k % 2; };
  return d;
}

Description structure(std::vector<int>& memory, int n) {
  Description d{&memory[kStart], n / 2, MPI_INT, {}};
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {4, 12};
  const MPI_Datatype types[] = {MPI_INT, MPI_INT};
  MPI_Datatype inner;
  MPI_Type_create_struct(2, lengths, places, types, &inner);
  MPI_Type_create_resized(inner, 0, 20, &d.type);
  MPI_Type_free(&inner);
  d.place = [](std::size_t k) { return kStart + k / 2 * 5 + (k % 2 ? 3 : 1); };
  return d;
}

Description resized(std::vector<int>& memory, int n) {
  Description d{&memory[kStart], n, MPI_INT, [](std::size_t k) { return kStart + 4 * k; }};
  MPI_Type_create_resized(MPI_INT, -8, 16, &d.type);
  return d;
}

// The integers in memory are in another order than in the message.
Description permuted(std::vector<int>& memory, int n, bool absolute) {
  std::vector<int> lengths(static_cast<std::size_t>(n), 1);
  std::vector<MPI_Aint> places(lengths.size());
  const std::size_t count = lengths.size();
  const auto place = [count](std::size_t k) { return kStart + 2 * (k * 7 % count); };
  MPI_Aint base = 0;
  if (absolute) MPI_Get_address(memory.data(), &base);
  for (std::size_t k = 0; k < count; ++k) {
    places[k] = base + static_cast<MPI_Aint>(place(k) * sizeof(int));
  }
  Description d{absolute ? MPI_BOTTOM : memory.data(), 1, MPI_INT, place};
  MPI_Type_create_hindexed(n, lengths.data(), places.data(), MPI_INT, &d.type);
  return d;
}

Description backwards(std::vector<int>& memory, int n) {
  const auto last = static_cast<std::size_t>(n) - 1;
  Description d{&memory[kStart + last], 1, MPI_INT,
                [last](std::size_t k) { return kStart + last - k; }};
  MPI_Type_create_hvector(n, 1, -4, MPI_INT, &d.type);
  return d;
}

Description duplicate(std::vector<int>& memory, int n) {
  Description d = predefined(memory, n);
  MPI_Type_dup(MPI_INT, &d.type);
  return d;
}

const Describe kWays[] = {
    predefined,
    contiguous,
    vector,
    structure,
    [](std::vector<int>& memory, int n) { return permuted(memory, n, false); },
    resized,
    contiguous_quarters,
    [](std::vector<int>& memory, int n) { return permuted(memory, n, true); },
    backwards,
    duplicate,
    vectors,
};
constexpr int kNumWays = static_cast<int>(std::size(kWays));

void verify(const std::vector<int>& memory, const Description& d, int n, int way, int root) {
  std::vector<bool> used(memory.size());
  int wrong = 0, stray = 0;
  for (int k = 0; k < n; ++k) {
    const std::size_t place = d.place(static_cast<std::size_t>(k));
    used[place] = true;
    wrong += memory[place] != 1000 * root + k;
  }
  for (std::size_t i = 0; i < memory.size(); ++i) stray += !used[i] && memory[i] != -1;
  CHECK(wrong == 0, "%d of %d integers, way %d, root %d", wrong, n, way, root);
  CHECK(stray == 0, "%d of %d gaps, way %d, root %d", stray, n, way, root);
}

void broadcast(int n, int way, int root) {
  std::vector<int> memory(2 * kStart + 5 * static_cast<std::size_t>(n), -1);
  Description d = kWays[way](memory, n);
  step("%d integers, way %d, root %d", n, way, root);
  if (d.type != MPI_INT) MPI_Type_commit(&d.type);
  for (int k = 0; k < n && rank == root; ++k) {
    memory[d.place(static_cast<std::size_t>(k))] = 1000 * root + k;
  }
  MPI_Bcast(d.address, d.count, d.type, root, MPI_COMM_WORLD);
  CHECK_TAKEN();
  verify(memory, d, n, way, root);
  if (d.type != MPI_INT) MPI_Type_free(&d.type);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  // Multiples of 4, but not of 7, so that k * 7 % n is a permutation.
  for (int n : {4, 16, 100, 2048, 8192, 20000, 100004}) {
    for (int first = 0; first < kNumWays; ++first) {
      // The way changes by more than one from rank to rank, so that each way is combined with
      // several others.
      broadcast(n, (first + rank * (1 + first % 3)) % kNumWays, first % ranks);
    }
  }
  return finish();
}
