// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce_local, MPI_Allreduce, MPI_Reduce and MPI_Bcast of large vectors, and MPI_Pack and
// MPI_Unpack of many elements, called inside and outside of parallel regions. The results must have
// the bits of the same calls on parts too small for threads. The last line of output is a hash of
// all results, to be compared between runs. openmp
// local|allreduce|reduce|bcast|nonblocking|pack|unpack
// outside|master|task|each [--multiple]
#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "check.h"

namespace {

using namespace test;

constexpr int kCounts[] = {1, 20'000, 300'001};
constexpr int kPart = 4000;
std::uint64_t hash = 14695981039346656037u;

// Numbers of very different magnitudes: another order of additions gives other bits.
std::vector<float> numbers(int count, int seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  auto state = static_cast<std::uint32_t>(seed);
  for (float& value : values) {
    state = state * 1664525 + 1013904223;
    value = static_cast<float>(state >> 8) * (state & 1 ? 1e-6f : 1e3f);
  }
  return values;
}

// Every other float of an array. Sumac serves the type once the MPI has packed 8 KiB of it.
MPI_Datatype every_other() {
  static const MPI_Datatype type = [] {
    MPI_Datatype made;
    MPI_Type_create_resized(MPI_FLOAT, 0, 2 * sizeof(float), &made);
    MPI_Type_commit(&made);
    constexpr int kKnown = 4096;
    std::vector<float> spaced(2 * kKnown), packed(kKnown);
    int end = 0;
    MPI_Pack(spaced.data(), kKnown, made, packed.data(), kKnown * sizeof(float), &end,
             MPI_COMM_WORLD);
    return made;
  }();
  return type;
}

void pack(const float* in, float* out, int count) {
  std::vector<float> spaced(2 * static_cast<std::size_t>(count), -1);
  for (std::size_t i = 0; i < spaced.size(); i += 2) spaced[i] = in[i / 2];
  int end = 0;
  MPI_Pack(spaced.data(), count, every_other(), out, count * int{sizeof(float)}, &end,
           MPI_COMM_WORLD);
}

void unpack(const float* in, float* out, int count) {
  std::vector<float> spaced(2 * static_cast<std::size_t>(count), -1);
  int end = 0;
  MPI_Unpack(in, count * int{sizeof(float)}, &end, spaced.data(), count, every_other(),
             MPI_COMM_WORLD);
  for (std::size_t i = 0; i < spaced.size(); i += 2) out[i / 2] = spaced[i];
  for (std::size_t i = 1; i < spaced.size(); i += 2) {
    CHECK(spaced[i] == -1, "gap %zu of %d", i / 2, count);
  }
}

struct Call {
  std::string_view kind;
  int root;

  bool packs() const { return kind == "pack" || kind == "unpack"; }
  bool gives() const { return kind != "reduce" || rank == root; }
  void operator()(const float* in, float* out, int count) const {
    if (kind == "local") {
      MPI_Reduce_local(in, out, count, MPI_FLOAT, MPI_SUM);
    } else if (kind == "allreduce") {
      MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    } else if (kind == "bcast") {
      if (rank == root) std::copy(in, in + count, out);
      MPI_Bcast(out, count, MPI_FLOAT, root, MPI_COMM_WORLD);
    } else if (packs()) {
      (kind == "pack" ? pack : unpack)(in, out, count);
    } else if (kind == "nonblocking") {
      MPI_Request request;
      MPI_Iallreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Reduce(in, out, count, MPI_FLOAT, MPI_SUM, root, MPI_COMM_WORLD);
    }
  }
};

// Calls from the main thread only, as MPI_THREAD_FUNNELED requires.
void from(std::string_view where, const std::function<void()>& call) {
  if (where == "outside") return call();
#pragma omp parallel
  {
#pragma omp master
    {
      if (where == "task") {
#pragma omp task if (0)
        call();
      } else {
        call();
      }
    }
#pragma omp barrier
  }
}

void check(const Call& call, std::string_view where, int count) {
  step("%s %s of %d", call.kind.data(), where.data(), count);
  const std::vector<float> in = numbers(count, rank + 1);
  std::vector<float> out = numbers(count, 77), expected = out;
  from(where, [&] { call(in.data(), out.data(), count); });
  if (!call.packs() || count > 100) CHECK_TAKEN();
  for (int first = 0; first < count; first += kPart) {
    call(in.data() + first, expected.data() + first, std::min(kPart, count - first));
  }
  if (!call.gives()) return;
  const std::size_t bytes = out.size() * sizeof(float);
  CHECK(std::memcmp(out.data(), expected.data(), bytes) == 0, "%s %s of %d", call.kind.data(),
        where.data(), count);
  for (const float value : out) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 1099511628211u;
  }
}

// All threads of a region pack and unpack at the same time, some of them helped by others.
void pack_in_each(int count) {
  step("every thread packs %d", count);
  const std::vector<float> in = numbers(count, 5);
  every_other();
#pragma omp parallel
  {
    for (int n = 0; n < 20; ++n) {
      std::vector<float> packed(in.size()), out(in.size());
      pack(in.data(), packed.data(), count);
      unpack(packed.data(), out.data(), count);
      CHECK(packed == in, "pack %d of %d", n, count);
      CHECK(out == in, "unpack %d of %d", n, count);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv, MPI_THREAD_FUNNELED);  // or MPI_THREAD_MULTIPLE
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  warm_up(MPI_COMM_WORLD);
  const bool each = argv[2] == std::string_view("each");
  for (const int count : kCounts) {
    if (each) pack_in_each(count);
    for (int n = 0; n < 3 && !each; ++n) check({argv[1], n % ranks}, argv[2], count);
  }
  std::uint64_t all = 0;
  native().Allreduce(&hash, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("hash %llx\n", static_cast<unsigned long long>(all));
  return finish();
}
