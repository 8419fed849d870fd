// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments must give the MPI's own error class, through the communicator's own error
// handler, once, after which the program can go on. This holds whatever the state of the
// communicator, for errors on all ranks or on one.
#include <vector>

#include "exercise.h"
#include "wrong_calls.h"

namespace {

using namespace test;

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

Outcome outcome_of(const WrongCall& wrong, bool native, MPI_Comm comm) {
  outcome = Outcome();
  outcome.returned = class_of(wrong.call({native, Form::blocking, comm, nullptr}));
  return outcome;
}

void make_wrong_call(const WrongCall& wrong, MPI_Comm comm) {
  const Outcome expected = outcome_of(wrong, true, comm), found = outcome_of(wrong, false, comm);
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
  for (const WrongCall& wrong : calls_on_null()) {
    make_wrong_call(wrong, MPI_COMM_NULL);
    CHECK(outcome.returned == MPI_ERR_COMM, "%s: class %d", wrong.name, outcome.returned);
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
    const int expected = class_of(native().Reduce_local(kIn, kOut, w.count, w.type, w.op));
    const int error = class_of(MPI_Reduce_local(kIn, kOut, w.count, w.type, w.op));
    CHECK(error == expected, "class %d, the MPI's %d", error, expected);
  }
}

void test_zero_counts() {
  step("zero counts");
  for (int i = 0; i < 3; ++i) {
    int in[1] = {}, out[1] = {17};
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
