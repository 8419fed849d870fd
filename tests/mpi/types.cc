// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts of every predefined type, and reductions that Sumac never serves: predefined
// operations on derived types.
#include "check.h"
#include "data.h"
#include "mpi_faults.h"
#include "predefined.h"

namespace {

using namespace test;

constexpr std::size_t kBytes = 4096;
constexpr int kCount = 37;

// Elements have random bits, and gaps have other bits on each rank: gaps must not be sent.
void test_bcast(const Predefined& p) {
  step("broadcast of %s", p.name);
  unsigned char data[kBytes], expected[kBytes];
  for (std::size_t i = 0; i < kBytes; ++i) {
    data[i] = static_cast<unsigned char>(mix(i * 64 + static_cast<unsigned>(rank)));
  }
  std::memcpy(expected, data, sizeof data);
  native().Bcast(expected, kCount, p.type, ranks - 1, MPI_COMM_WORLD);
  MPI_Bcast(data, kCount, p.type, ranks - 1, MPI_COMM_WORLD);
  CHECK(was_taken(), "%s: '%s'", p.name, path());
  CHECK(std::memcmp(data, expected, sizeof data) == 0, "%s", p.name);
}

void test_derived_types() {
  step("derived types");
  MPI_Datatype two, copy;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_commit(&two);
  MPI_Type_dup(MPI_INT, &copy);
  for (MPI_Datatype type : {two, copy}) {
    int own[2] = {rank, 1}, ours[2] = {}, theirs[2] = {};
    const int expected = native().Allreduce(own, theirs, 1, type, MPI_SUM, MPI_COMM_WORLD);
    const int error = MPI_Allreduce(own, ours, 1, type, MPI_SUM, MPI_COMM_WORLD);
    CHECK_HANDED_DOWN("no kernel for the operation on this type");
    CHECK(class_of(error) == class_of(expected), "%d, the MPI's %d", error, expected);
    CHECK(std::memcmp(ours, theirs, sizeof ours) == 0, "%d %d", ours[0], ours[1]);
  }
  MPI_Type_free(&two);
  MPI_Type_free(&copy);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors_return());
  MPI_Comm_set_errhandler(MPI_COMM_SELF, errors_return());
  CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  for (const Predefined& p : predefined_types()) test_bcast(p);
  test_derived_types();
  return finish();
}
