// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter and all-gather against results computed from the inputs: every function and form,
// sizes around those at which the algorithm changes, equal and unequal parts, places with gaps and
// in any order, types that differ between ranks, and several calls under way at once.
#include "element_oracle.h"
#include "mpi_faults.h"
#include "part_sweep.h"

namespace {

using namespace test;

constexpr What kWhats[] = {What::reduce_scatter_block, What::reduce_scatter, What::allgather,
                           What::allgatherv};

// The padding between value and index belongs to the program and must not change; nor is what
// reduces a predefined operation.
void other_operations() {
  const Numbers pairs = numbers_of({"DOUBLE_INT", MPI_DOUBLE_INT, kLocation, DType::f64_i32},
                                   {"MAXLOC", MPI_MAXLOC, kLocation, Op::maxloc}, DType::f64_i32);
  Numbers users = ints();
  MPI_Op_create(
      [](void* in, void* inout, int* n, MPI_Datatype*) {
        for (int i = 0; i < *n; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
      },
      1, &users.op);
  Sweep{.whats = {What::reduce_scatter_block},
        .numbers = {&pairs, &users},
        .counts = {1, 3, 300, 5000}}
      .for_each([](const Case& c, std::uint64_t) { run(c, world(), Served::anyhow); });
  MPI_Op_free(&users.op);
}

// Counts beyond an int, for an MPI without large counts.
void beyond_int() {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
  MPI_Comm comm = returning_copy();
  MPI_Op op;  // user-defined, so that the MPI does it
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &op);
  std::vector<MPI_Count> counts(static_cast<std::size_t>(ranks), MPI_Count{1} << 33);
  char in = 0, out = 0;
  const void* from = &in;
  void* into = &out;
  for (const Form form : kForms) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int of_parts = call("Reduce_scatter_c", form, comm, &request, from, into,
                              static_cast<const MPI_Count*>(counts.data()), MPI_CHAR, op);
    const int of_one =
        call("Reduce_scatter_block_c", form, comm, &request, from, into, counts[0], MPI_CHAR, op);
    CHECK(of_parts == MPI_ERR_COUNT && of_one == MPI_ERR_COUNT, "%d, %d", of_parts, of_one);
  }
  MPI_Op_free(&op);
  MPI_Comm_free(&comm);
#endif
}

// Errors are raised by the MPI, here on all ranks at once. Negative counts in an array are left
// out: neither MPI checks them, and both crash.
void errors() {
  MPI_Comm comm = returning_copy();
  std::vector<int> in(static_cast<std::size_t>(4 * ranks)), out(in.size());
  int *from = in.data(), *into = out.data();
  CHECK(MPI_Allgather(from, -1, MPI_INT, into, -1, MPI_INT, comm) != MPI_SUCCESS);
  CHECK(MPI_Allgather(from, 1, MPI_DATATYPE_NULL, into, 1, MPI_INT, comm) != MPI_SUCCESS);
  with_uncommitted([&](MPI_Datatype open) {
    CHECK(MPI_Allgather(from, 2, MPI_INT, into, 1, open, comm) != MPI_SUCCESS);
    CHECK(MPI_Allgather(from, 1, open, into, 2, MPI_INT, comm) != MPI_SUCCESS);
  });
  CHECK(MPI_Reduce_scatter_block(from, into, 1, MPI_INT, MPI_OP_NULL, comm) != MPI_SUCCESS);
  run({.what = What::allgather, .counts = {1}}, group_of(comm));
  MPI_Comm_free(&comm);
}

}  // namespace

// parts [--alike]: all ranks use the same types and layouts
int main(int argc, char** argv) {
  start(argc, argv);
  const PartSweep sweep{
      .whats = {std::begin(kWhats), std::end(kWhats)},
      .sizes = {0, 1, 2, 7, 517, 518, 519, 1036, 4099, 16384, 16385, 100000, 270000},
      .all_up_to = 20000,
      .keeps = 5,
      .alike = take_flag(argc, argv, "--alike")};
  CHECK(warm_up(MPI_COMM_WORLD) != only_linked, "path '%s'", path());
  sweep.run_all();
  sweep.run_mixed(60);
  other_operations();
  if (!only_linked) errors();  // without Sumac the MPIs crash at uncommitted types
  beyond_int();
  return finish();
}
