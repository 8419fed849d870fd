// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments must give the MPI's own error class, through the communicator's own error
// handler, once, after which the program can go on. This holds whatever the state of the
// communicator, for errors on all ranks or on one.
#include <functional>
#include <vector>

#include "exercise.h"

namespace {

using namespace test;

struct Functions : Native {
  decltype(&PMPI_Allgather) Allgather;
  decltype(&PMPI_Alltoallw) Alltoallw;
};

struct WrongCall {
  const char* name;
  std::function<int(const Functions&, MPI_Comm)> call;
};

int in[8], out[8];

// The MPIs call this an error though no rank sends anything.
int gather_nothing_of_null_type(const Functions& f, MPI_Comm comm) {
  return f.Allgather(in, 0, MPI_DATATYPE_NULL, out, 0, MPI_INT, comm);
}

#ifdef OPEN_MPI
int exchange_nothing_of_null_types(const Functions& f, MPI_Comm comm) {
  const std::vector<int> zeros(static_cast<std::size_t>(ranks));
  const std::vector<MPI_Datatype> null(zeros.size(), MPI_DATATYPE_NULL);
  return f.Alltoallw(in, zeros.data(), zeros.data(), null.data(), out, zeros.data(), zeros.data(),
                     null.data(), comm);
}
#endif

int broadcast_uncommitted(const Functions& f, MPI_Comm comm) {
  MPI_Datatype type;
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  const int error = f.Bcast(in, 1, type, 0, comm);
  MPI_Type_free(&type);
  return error;
}

std::vector<WrongCall> wrong_calls() {
  using F = const Functions&;
  return {
      {"allreduce, null type",
       [](F f, MPI_Comm c) { return f.Allreduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, c); }},
      {"allreduce, null operation",
       [](F f, MPI_Comm c) { return f.Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, c); }},
      {"allreduce, bitwise and of doubles",
       [](F f, MPI_Comm c) { return f.Allreduce(in, out, 1, MPI_DOUBLE, MPI_BAND, c); }},
      {"allreduce, minimum with index of integers",
       [](F f, MPI_Comm c) { return f.Allreduce(in, out, 1, MPI_INT, MPI_MINLOC, c); }},
#ifdef OPEN_MPI  // MPICH 4.0 does not check the counts of reductions, and crashes
      {"allreduce, count -1",
       [](F f, MPI_Comm c) { return f.Allreduce(in, out, -1, MPI_INT, MPI_SUM, c); }},
      {"reduce, count -7",
       [](F f, MPI_Comm c) { return f.Reduce(in, out, -7, MPI_INT, MPI_SUM, 0, c); }},
#endif
      {"reduce, root -9",
       [](F f, MPI_Comm c) { return f.Reduce(in, out, 1, MPI_INT, MPI_SUM, -9, c); }},
      {"reduce, root beyond the ranks",
       [](F f, MPI_Comm c) { return f.Reduce(in, out, 1, MPI_INT, MPI_SUM, 1000, c); }},
      {"reduce, null type",
       [](F f, MPI_Comm c) { return f.Reduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, 0, c); }},
      {"reduce, null operation",
       [](F f, MPI_Comm c) { return f.Reduce(in, out, 1, MPI_INT, MPI_OP_NULL, 0, c); }},
      {"bcast, count -1", [](F f, MPI_Comm c) { return f.Bcast(in, -1, MPI_INT, 0, c); }},
      {"bcast, null type", [](F f, MPI_Comm c) { return f.Bcast(in, 1, MPI_DATATYPE_NULL, 0, c); }},
      {"bcast, root -1", [](F f, MPI_Comm c) { return f.Bcast(in, 1, MPI_INT, -1, c); }},
      {"bcast, root beyond the ranks",
       [](F f, MPI_Comm c) { return f.Bcast(in, 1, MPI_INT, 1000, c); }},
      {"allreduce, in place on the wrong side",
       [](F f, MPI_Comm c) { return f.Allreduce(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, c); }},
      {"bcast, type not committed", broadcast_uncommitted},
      {"reduce, one buffer of the root's",
       [](F f, MPI_Comm c) { return f.Reduce(in, in, 1, MPI_INT, MPI_SUM, rank, c); }},
      {"allgather, null type, count 0", gather_nothing_of_null_type},
#ifdef OPEN_MPI  // MPICH does not look at buffers and types where there are no data
      {"alltoallw, null types, count 0", exchange_nothing_of_null_types},
      {"allreduce, in place on the wrong side, count 0",
       [](F f, MPI_Comm c) { return f.Allreduce(in, MPI_IN_PLACE, 0, MPI_INT, MPI_SUM, c); }},
      {"reduce, in place on the wrong side, count 0",
       [](F f, MPI_Comm c) { return f.Reduce(in, MPI_IN_PLACE, 0, MPI_INT, MPI_SUM, rank, c); }},
#endif
  };
}

// Functions as the program calls them, through Sumac where it is loaded.
const Functions& ours() {
  static const Functions functions{
      {MPI_Allreduce, MPI_Reduce, MPI_Bcast, MPI_Barrier, MPI_Reduce_local},
      MPI_Allgather,
      MPI_Alltoallw};
  return functions;
}

const Functions& the_mpis() {
  static const Functions functions = [] {
    const auto find = in_sumac<void* (*)(const char*)>("sumac_native");
    Functions found{native(), nullptr, nullptr};
    found.Allgather = reinterpret_cast<decltype(found.Allgather)>(find("MPI_Allgather"));
    found.Alltoallw = reinterpret_cast<decltype(found.Alltoallw)>(find("MPI_Alltoallw"));
    return found;
  }();
  return functions;
}

int class_of(int error) {
  int error_class = MPI_SUCCESS;
  if (error != MPI_SUCCESS) MPI_Error_class(error, &error_class);
  return error_class;
}

// The effect of a call on its caller: the error class it returns, and which communicators' error
// handlers are called with which class. MPIs differ here: for some arguments they call the handler
// of MPI_COMM_WORLD.
struct Outcome {
  int returned = MPI_SUCCESS;
  std::vector<std::pair<MPI_Comm, int>> handled;
  bool operator==(const Outcome&) const = default;
};

Outcome outcome;  // of the current call

void handler(MPI_Comm* comm, int* error, ...) {
  outcome.handled.emplace_back(*comm, class_of(*error));
}

Outcome outcome_of(const WrongCall& wrong, const Functions& functions, MPI_Comm comm) {
  outcome = Outcome();
  outcome.returned = class_of(wrong.call(functions, comm));
  return outcome;
}

void make_wrong_call(const WrongCall& wrong, MPI_Comm comm) {
  const Outcome expected = outcome_of(wrong, the_mpis(), comm);
  const Outcome found = outcome_of(wrong, ours(), comm);
  CHECK(expected.returned != MPI_SUCCESS && expected.handled.size() == 1, "%s", wrong.name);
  CHECK(found.returned == expected.returned, "%s: class %d, the MPI's %d, '%s'", wrong.name,
        found.returned, expected.returned, path());
  CHECK(found.handled == expected.handled, "%s: %zu handlers, the MPI's %zu", wrong.name,
        found.handled.size(), expected.handled.size());
}

// Makes `before` correct calls on the communicator, then the wrong ones, on all ranks or on one.
void test_wrong_calls(int before, bool on_one_rank) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < before; ++i) MPI_Barrier(comm);
  for (const WrongCall& wrong : wrong_calls()) {
    step("%s, after %d calls, on %s", wrong.name, before, on_one_rank ? "one rank" : "all ranks");
    if (!on_one_rank || rank == ranks - 1) make_wrong_call(wrong, comm);
    if (before > 2) {
      use(comm, before);
      CHECK_TAKEN();
    }
  }
  for (int i = 0; i < 3; ++i) use(comm, i);
  CHECK_TAKEN();
  MPI_Comm_free(&comm);
}

void test_null_communicator() {
  step("null communicator");
  const Native* both[] = {&native(), &ours()};
  int classes[2][4];
  for (int i = 0; i < 2; ++i) {
    const Native& f = *both[i];
    classes[i][0] = class_of(f.Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL));
    classes[i][1] = class_of(f.Reduce(in, out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_NULL));
    classes[i][2] = class_of(f.Bcast(in, 1, MPI_INT, 0, MPI_COMM_NULL));
    classes[i][3] = class_of(f.Barrier(MPI_COMM_NULL));
  }
  for (int c = 0; c < 4; ++c) {
    CHECK(classes[1][c] == classes[0][c] && classes[0][c] == MPI_ERR_COMM, "class %d, the MPI's %d",
          classes[1][c], classes[0][c]);
  }
}

void test_reduce_local() {
  step("reduce_local");
  const struct {
    int count;
    MPI_Datatype type;
    MPI_Op op;
  } wrong[] = {
      {1, MPI_DATATYPE_NULL, MPI_SUM}, {1, MPI_INT, MPI_OP_NULL}, {1, MPI_DOUBLE, MPI_BXOR}};
  for (const auto& w : wrong) {
    const int expected = class_of(native().Reduce_local(in, out, w.count, w.type, w.op));
    const int error = class_of(MPI_Reduce_local(in, out, w.count, w.type, w.op));
    CHECK(error == expected, "class %d, the MPI's %d", error, expected);
  }
}

void test_zero_counts() {
  step("zero counts");
  for (int i = 0; i < 3; ++i) {
    out[0] = 17;
    MPI_Allreduce(in, out, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(was_taken() && out[0] == 17, "'%s' %d", path(), out[0]);
    MPI_Reduce(in, out, 0, MPI_INT, MPI_SUM, ranks - 1, MPI_COMM_WORLD);
    CHECK(was_taken() && out[0] == 17, "'%s' %d", path(), out[0]);
    MPI_Allreduce(nullptr, nullptr, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(nullptr, 0, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    CHECK_TAKEN();
  }
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  MPI_Errhandler noting;
  MPI_Comm_create_errhandler(handler, &noting);
  // Communicators made by MPI_Comm_dup inherit the handler.
  for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, noting);
  for (int before : {0, 1, 2, 4}) {
    for (bool on_one_rank : {false, true}) test_wrong_calls(before, on_one_rank);
  }
  use(MPI_COMM_WORLD, 1);
  test_null_communicator();
  test_reduce_local();
  test_zero_counts();
  use(MPI_COMM_WORLD, 2);
  CHECK_TAKEN();
  MPI_Errhandler_free(&noting);
  return finish();
}
