// SPDX-License-Identifier: BSD-3-Clause
// All-to-alls against results computed from the inputs: every function and form, sizes around those
// at which the algorithm changes, blocks of any sizes and none, places with gaps and in any order,
// types that differ between blocks and ranks, in place, and several calls under way at once.
#include "mpi_faults.h"
#include "part_sweep.h"

namespace {

using namespace test;

// Addresses in place of displacements.
void absolute() {
  for (const Form form : kForms) {
    run({.what = What::alltoallw, .counts = {2}, .form = form, .large = true, .absolute = true},
        world(), Served::anyhow);
  }
}

// One rank only gives, all others only get, and the other way round: where there are no data there
// need be no buffer.
void one_sided() {
  const auto p = static_cast<std::size_t>(ranks);
  for (std::size_t i = 0; i < 4 * p; ++i) {
    Case c{.what = What::alltoallv, .counts = std::vector<std::size_t>(p * p), .seed = i};
    for (std::size_t r = 0; r < p; ++r) c.counts[i / 2 % 2 ? r * p + i / 4 : i / 4 * p + r] = 1;
    run(c, world(), Served::anyhow);
  }
}

// The groups of an intercommunicator may differ in size: arrays are as long as the other one.
void intercommunicator() {
  if (ranks < 2) return;
  MPI_Comm side, inter;
  const int color = rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, color, rank, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, 1 - color, 9, &inter);
  int others = 0, own = 0;
  MPI_Comm_remote_size(inter, &others);
  MPI_Comm_rank(side, &own);
  std::vector<MPI_Count> counts(static_cast<std::size_t>(others), 1);
  std::vector<MPI_Aint> places(counts.size());
  std::vector<int> in(counts.size()), out(counts.size()), expected(counts.size());
  for (int r = 0; r < others; ++r) {
    const auto i = static_cast<std::size_t>(r);
    places[i] = r;
    in[i] = 100 * rank + r;
    expected[i] = 100 * (2 * r + 1 - color) + own;
  }
  const void* const from = in.data();
  void* const into = out.data();
  const MPI_Count* const each = counts.data();
  const MPI_Aint* const at = places.data();
  for (int i = 0; i < 3; ++i) {
    std::fill(out.begin(), out.end(), -1);
    CHECK(call("Alltoallv_c", Form::blocking, inter, nullptr, from, each, at, MPI_INT, into, each,
               at, MPI_INT) == MPI_SUCCESS);
    CHECK(!was_taken(), "path '%s'", path());
    CHECK(out == expected, "%d", out[0]);
  }
  MPI_Comm_free(&inter);
  MPI_Comm_free(&side);
}

// Errors are raised by the MPI, here on all ranks at once.
void errors() {
  MPI_Comm comm = returning_copy();
  std::vector<int> in(static_cast<std::size_t>(4 * ranks)), out(in.size());
  const std::vector<int> ones(static_cast<std::size_t>(ranks), 1), places(ones.size());
  int *from = in.data(), *into = out.data();
  CHECK(MPI_Alltoall(from, -1, MPI_INT, into, -1, MPI_INT, comm) != MPI_SUCCESS);
  CHECK(MPI_Alltoall(from, 1, MPI_DATATYPE_NULL, into, 1, MPI_INT, comm) != MPI_SUCCESS);
  CHECK(MPI_Alltoallv(from, ones.data(), places.data(), MPI_DATATYPE_NULL, into, ones.data(),
                      places.data(), MPI_INT, comm) != MPI_SUCCESS);
  with_uncommitted([&](MPI_Datatype open) {
    CHECK(MPI_Alltoall(from, 2, MPI_INT, into, 1, open, comm) != MPI_SUCCESS);
  });
  run({.what = What::alltoall, .counts = {1}}, group_of(comm));
  MPI_Comm_free(&comm);
}

}  // namespace

// alltoall [--handed-down]: the MPI serves, as over levels
int main(int argc, char** argv) {
  start(argc, argv);
  const bool handed_down = take_flag(argc, argv, "--handed-down");
  const int slot = 32 << 10 >> 2;  // ints
  // Open MPI 4 has no MPI_Alltoallw in place without errors in its nonblocking forms.
  const PartSweep sweep{.whats = {What::alltoall, What::alltoallv, What::alltoallw},
                        .sizes = {0, 1, 2, 7, 60, 516, 517, 518, 519, 700, 4099, slot - 1, slot,
                                  slot + 1, slot * ranks + 3, 100000, 300000},
                        .all_up_to = 4000,
                        .keeps = 4,
                        .never_in_place = only_linked || handed_down,
                        .served = handed_down ? Served::by_mpi : Served::by_rule};
  CHECK(warm_up(MPI_COMM_WORLD) != only_linked, "path '%s'", path());
  sweep.run_all();
  sweep.run_mixed(40);
  // Addresses are beyond the displacements of an MPI without large counts.
  if (!only_linked && !handed_down) absolute();
  one_sided();
  intercommunicator();
  if (!only_linked) errors();
  return finish();
}
