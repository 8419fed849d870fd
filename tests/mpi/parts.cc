// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter and all-gather against results computed from the inputs: every function and form,
// sizes around those at which the algorithm changes, equal and unequal parts, places with gaps and
// in any order, types that differ between ranks, and several calls under way at once.
#include "parts.h"
#include "mpi_faults.h"

#include <algorithm>
#include <numeric>

namespace {

using namespace test;

// With --alike, all ranks use the same types and layouts.
bool alike = false;

// The counts of all ranks, about `n` in all: equal, all on one rank, or of different lengths, some
// of them 0.
std::vector<int> counts_of(int pattern, int n) {
  std::vector<int> counts(static_cast<std::size_t>(ranks), n / ranks);
  if (pattern == 0) return counts;
  std::fill(counts.begin(), counts.end(), 0);
  if (pattern == 1) {
    counts[static_cast<std::size_t>(n % ranks)] = n;
    return counts;
  }
  for (int r = 0, left = n; r < ranks; ++r) {
    const int part = r == ranks - 1 ? left
                                    : static_cast<int>(mix(static_cast<std::uint64_t>(n + r)) %
                                                       static_cast<unsigned>(left + 1));
    counts[static_cast<std::size_t>(r)] = r % 3 == 1 ? 0 : part;
    left -= counts[static_cast<std::size_t>(r)];
  }
  return counts;
}

// Places in reverse rank order, with gaps that differ between ranks.
std::vector<int> places_of(const std::vector<int>& counts) {
  std::vector<int> places(counts.size());
  int end = 3;
  for (std::size_t r = counts.size(); r-- > 0;) {
    places[r] = end;
    end += counts[r] + 1 + rank;
  }
  return places;
}

void run(Parts& parts, int round) {
  step("%s of %d elements, form %d, in place %d", parts.name.c_str(), parts.total(),
       static_cast<int>(parts.form), parts.in_place);
  parts.allocate();
  parts.fill(round);
  const bool deferred = parts.form != Form::blocking;
  if (deferred) forget_path();
  CHECK(parts.make() == MPI_SUCCESS, "%s", parts.name.c_str());
  if (!deferred) {
    CHECK(only_linked || was_taken() || was_handed_down("the rules prefer the MPI here"),
          "path '%s'", path());
    return parts.check(round);
  }
  expect_taken_nonblocking(parts.name.c_str());
  complete(parts, round);
}

Parts shape(int function, Form form, bool large, bool in_place, int pattern, int n, int round) {
  const char* name = kFunctions[function];
  const bool listed = function == 1 || function == 3;
  Parts parts{name, form, large, in_place, counts_of(listed ? pattern : 0, n), {}};
  // In an all-gather each rank may use other types, which MPICH's own does not support.
  const bool gathers = function >= 2;
  const int other = alike ? 0 : rank;
  parts.from = layout(gathers && (round + other) % 3 == 0);
  parts.into = layout(gathers && (round + other) % 4 == 1);
  if (function == 3) parts.places = places_of(parts.counts);
  return parts;
}

void sweep() {
  int round = 0;
  for (const int n : {0, 1, 2, 7, 517, 518, 519, 1036, 4099, 16384, 16385, 100000, 270000}) {
    for (int function = 0; function < 4; ++function) {
      for (const Form form : kForms) {
        for (int variant = 0; variant < 12; ++variant) {
          if (n > 20000 && variant % 5 != 0) continue;
          Parts parts = shape(function, form, variant & 1, variant & 2, variant / 4, n, ++round);
          run(parts, round);
        }
      }
    }
  }
}

// Several operations under way at once, with blocking ones between them, completed in another
// order.
void mixed() {
  for (int round = 0; round < 60; ++round) {
    std::vector<Parts> going;
    for (int i = 0; i < 4; ++i) {
      const Form form = (round + i) % 3 == 0 ? Form::persistent : Form::nonblocking;
      going.push_back(shape(i, form, round & 1, round & 2, round % 3, 300 * round + i, round));
    }
    for (Parts& parts : going) {
      parts.allocate();
      parts.fill(round);
      CHECK(parts.make() == MPI_SUCCESS, "%s", parts.name.c_str());
      if (parts.form == Form::persistent) MPI_Start(&parts.request);
      Parts blocking = shape(round % 4, Form::blocking, false, false, 0, 40 + round, round);
      run(blocking, round);
    }
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == ranks);
    for (std::size_t i = going.size(); i-- > 0;) {
      MPI_Wait(&going[i].request, MPI_STATUS_IGNORE);
      going[i].check(round);
      if (going[i].form == Form::persistent) MPI_Request_free(&going[i].request);
    }
  }
}

struct Pair {
  double value;
  int index;
};

// The padding between value and index belongs to the program and must not change.
void pairs() {
  for (const int n : {1, 300, 5000}) {
    std::vector<Pair> in(static_cast<std::size_t>(n * ranks)), out(static_cast<std::size_t>(n));
    std::memset(static_cast<void*>(out.data()), 0x5a, out.size() * sizeof(Pair));
    for (std::size_t k = 0; k < in.size(); ++k) {
      in[k].value = static_cast<double>(value(n, rank, k));
      in[k].index = rank;
    }
    CHECK(call("Reduce_scatter_block", Form::blocking, MPI_COMM_WORLD, nullptr,
               static_cast<const void*>(in.data()), static_cast<void*>(out.data()), n,
               MPI_DOUBLE_INT, MPI_MAXLOC) == MPI_SUCCESS);
    for (int k = 0; k < n; ++k) {
      int best = 0;
      const auto at = [&](int r) { return value(n, r, static_cast<std::size_t>(rank * n + k)); };
      for (int r = 1; r < ranks; ++r) best = at(r) > at(best) ? r : best;
      const Pair& got = out[static_cast<std::size_t>(k)];
      CHECK(got.index == best && got.value == at(best), "at %d", k);
      const auto* gap = reinterpret_cast<const unsigned char*>(&got) + 12;
      CHECK(gap[0] == 0x5a && gap[3] == 0x5a, "the gap at %d", k);
    }
  }
}

// Reductions by user-defined operations.
void users() {
  MPI_Op op;
  MPI_Op_create(
      [](void* in, void* inout, int* n, MPI_Datatype*) {
        for (int i = 0; i < *n; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
      },
      1, &op);
  std::vector<int> in(static_cast<std::size_t>(3 * ranks), rank), out(3);
  MPI_Reduce_scatter_block(in.data(), out.data(), 3, MPI_INT, op, MPI_COMM_WORLD);
  CHECK(out[0] == ranks * (ranks - 1) / 2 && out[2] == out[0], "%d", out[0]);
  MPI_Op_free(&op);
}

// Counts beyond an int, for an MPI without large counts.
void beyond_int() {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, errors_return());
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
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, errors_return());
  warm_up(comm);
  std::vector<int> in(static_cast<std::size_t>(4 * ranks)), out(in.size());
  int *from = in.data(), *into = out.data();
  CHECK(MPI_Allgather(from, -1, MPI_INT, into, -1, MPI_INT, comm) != MPI_SUCCESS);
  CHECK(MPI_Allgather(from, 1, MPI_DATATYPE_NULL, into, 1, MPI_INT, comm) != MPI_SUCCESS);
  MPI_Datatype open;
  MPI_Type_vector(2, 1, 2, MPI_INT, &open);  // left uncommitted
  CHECK(MPI_Allgather(from, 2, MPI_INT, into, 1, open, comm) != MPI_SUCCESS);
  CHECK(MPI_Allgather(from, 1, open, into, 2, MPI_INT, comm) != MPI_SUCCESS);
  MPI_Type_free(&open);
  CHECK(MPI_Reduce_scatter_block(from, into, 1, MPI_INT, MPI_OP_NULL, comm) != MPI_SUCCESS);
  CHECK(MPI_Allgather(&rank, 1, MPI_INT, into, 1, MPI_INT, comm) == MPI_SUCCESS);
  for (int r = 0; r < ranks; ++r) CHECK(into[r] == r, "%d", into[r]);
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  alike = take_flag(argc, argv, "--alike");
  CHECK(warm_up(MPI_COMM_WORLD) != only_linked, "path '%s'", path());
  sweep();
  mixed();
  pairs();
  users();
  if (!only_linked) errors();  // without Sumac the MPIs crash at uncommitted types
  beyond_int();
  return finish();
}
