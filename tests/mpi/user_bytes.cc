// SPDX-License-Identifier: BSD-3-Clause
// The program's own operations on objects that travel as bytes: the function must never be given a
// part of an object, so Sumac gives it the whole vector. What Sumac leaves to the MPI the MPI may
// cut.
#include "exercise.h"

namespace {

using namespace test;

struct Object {
  double sum;
  long count;
  int tag, largest;
};
constexpr int kSize = static_cast<int>(sizeof(Object));

int expected_bytes = 0, cut = 0;

void combine(void* in, void* inout, int* bytes, MPI_Datatype*) {
  if (*bytes != expected_bytes) ++cut;
  const auto* a = static_cast<const Object*>(in);
  auto* b = static_cast<Object*>(inout);
  for (int i = 0; i < *bytes / kSize; ++i) {
    b[i].sum += a[i].sum;
    b[i].count += a[i].count;
    b[i].largest = std::max(a[i].largest, b[i].largest);
  }
}

void check_result(const std::vector<Object>& result) {
  const double ranks_sum = ranks * (ranks - 1) / 2.0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto at = static_cast<double>(i);
    CHECK(result[i].sum == ranks_sum + ranks * at, "object %zu: %g", i, result[i].sum);
    CHECK(result[i].count == static_cast<long>(ranks) * static_cast<long>(i + 1), "object %zu", i);
    CHECK(result[i].tag == 7 && result[i].largest == ranks - 1, "object %zu", i);
  }
}

void reduce(MPI_Op op, MPI_Datatype type, int objects, int root) {
  step("%d objects, root %d", objects, root);
  const auto n = static_cast<std::size_t>(objects);
  std::vector<Object> own(n), result(n);
  for (std::size_t i = 0; i < n; ++i) {
    own[i] = {rank + static_cast<double>(i), static_cast<long>(i + 1), 7, rank};
  }
  expected_bytes = objects * kSize;
  cut = 0;
  if (root < 0) {
    MPI_Allreduce(own.data(), result.data(), objects * kSize, type, op, MPI_COMM_WORLD);
  } else {
    MPI_Reduce(own.data(), result.data(), objects * kSize, type, op, root, MPI_COMM_WORLD);
  }
  if (!was_taken()) return;
  CHECK(cut == 0, "%d calls with a part of the vector", cut);
  if (root < 0 || root == rank) check_result(result);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  warm_up(MPI_COMM_WORLD);
  MPI_Op op;
  MPI_Op_create(combine, 1, &op);
  for (MPI_Datatype type : {MPI_CHAR, MPI_BYTE}) {
    for (const int objects : {1, 3, 86, 87, 171, 342, 700, 1365, 1366, 5000}) {
      for (int root = -1; root < ranks; ++root) reduce(op, type, objects, root);
    }
  }
  MPI_Op_free(&op);
  return finish();
}
