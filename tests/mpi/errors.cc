// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments must give the MPI's own error class, through the communicator's own error
// handler, once, after which the program can go on. This holds whatever the state of the
// communicator, for errors on all ranks or on one.
// errors [--nonblocking]: the same of nonblocking and persistent calls
#include <vector>

#include "cases.h"
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

Outcome outcome_of(const WrongCall& wrong, bool native, Form form, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  outcome = Outcome();
  outcome.returned = class_of(wrong.call({native, form, comm, &request}));
  CHECK(outcome.returned != MPI_SUCCESS && request == MPI_REQUEST_NULL, "%s", wrong.name);
  return outcome;
}

void make_wrong_call(const WrongCall& wrong, Form form, MPI_Comm comm) {
  const Outcome expected = outcome_of(wrong, true, form, comm);
  const Outcome found = outcome_of(wrong, false, form, comm);
  CHECK(found.returned == expected.returned, "%s: class %d, the MPI's %d, '%s'", wrong.name,
        found.returned, expected.returned, path());
  if (form != Form::blocking) return;
  CHECK(expected.handled.size() == 1, "%s", wrong.name);
  CHECK(found.handled == expected.handled, "%s: %zu handlers, the MPI's %zu", wrong.name,
        found.handled.size(), expected.handled.size());
}

// Correct nonblocking and persistent operations still work, at the same time.
void use_nonblocking(MPI_Comm comm) {
  Call once({.what = What::allreduce, .counts = {1}, .form = Form::nonblocking}, group_of(comm));
  Call again({.what = What::allreduce, .counts = {1}, .form = Form::persistent}, group_of(comm));
  once.begin();
  expect_taken_nonblocking(step_text);
  again.begin();
  again.start();
  for (Call* call : {&once, &again}) {
    call->wait();
    call->check();
  }
}

// Makes `before` correct calls on the communicator, then the wrong ones, on all ranks or on one.
void test_wrong_calls(int before, bool on_one_rank, Form form) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < before; ++i) MPI_Barrier(comm);
  for (const WrongCall& wrong : wrong_calls()) {
    if (!wrong.has(form)) continue;
    step("%s, form %d, after %d calls, on %s", wrong.name, static_cast<int>(form), before,
         on_one_rank ? "one rank" : "all ranks");
    if (!on_one_rank || rank == ranks - 1) make_wrong_call(wrong, form, comm);
    if (before > 2) {
      use(comm, before);
      CHECK_TAKEN();
    }
    if (form != Form::blocking) use_nonblocking(comm);
  }
  for (int i = 0; i < 3; ++i) use(comm, i);
  CHECK_TAKEN();
  MPI_Comm_free(&comm);
}

void test_null_communicator(Form form) {
  step("null communicator, form %d", static_cast<int>(form));
  for (const WrongCall& wrong : calls_on_null()) {
    if (!wrong.has(form)) continue;
    make_wrong_call(wrong, form, MPI_COMM_NULL);
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

#ifdef OPEN_MPI
// Counts beyond this MPI's int, in calls that Sumac does not serve: both forms must return the same
// error and call the communicator's error handler.
void test_unusual(MPI_Comm comm) {
  step("counts beyond an int");
  const MPI_Count count = (MPI_Count{1} << 31) + 1;
  outcome = Outcome();
  MPI_Request r = MPI_REQUEST_NULL;
  int errors[2] = {};
  for (const Form form : {Form::nonblocking, Form::persistent}) {
    errors[form == Form::persistent] =
        call("Allreduce_c", form, comm, &r, kIn, kOut, count, MPI_INT, MPI_OP_NULL);
  }
  for (int error : errors) CHECK(error == MPI_ERR_COUNT, "error %d", error);
  CHECK(outcome.handled.size() == 2, "%zu", outcome.handled.size());
}
#else
// Without a place for the request the MPI returns an error, and Sumac counts the call as handed
// down.
void test_unusual(MPI_Comm comm) {
  step("no place for a request");
  const auto refused = [](int error) {
    CHECK(error != MPI_SUCCESS);
    CHECK_HANDED_DOWN("arguments the MPI should judge");
  };
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK_TAKEN();
  refused(MPI_Iallreduce(kIn, kOut, 1, MPI_INT, MPI_SUM, comm, nullptr));
  MPI_Barrier(comm);
  CHECK_TAKEN();
  refused(MPI_Ibarrier(comm, nullptr));
  MPI_Barrier(comm);
  refused(call("Bcast", Form::persistent, comm, nullptr, kOut, 1, MPI_INT, 0));
}
#endif

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
  const bool nonblocking = take_flag(argc, argv, "--nonblocking");
  MPI_Errhandler noting;
  MPI_Comm_create_errhandler(handler, &noting);
  // Communicators made by MPI_Comm_dup inherit the handler.
  for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, noting);
  for (bool on_one_rank : {false, true}) {
    for (int before : {0, 1, 2, 4}) test_wrong_calls(before, on_one_rank, Form::blocking);
    for (Form form : {Form::nonblocking, Form::persistent}) {
      if (nonblocking) test_wrong_calls(4, on_one_rank, form);
    }
  }
  use(MPI_COMM_WORLD, 1);
  for (Form form : kForms) {
    if (nonblocking || form == Form::blocking) test_null_communicator(form);
  }
  if (nonblocking) test_unusual(MPI_COMM_WORLD);
  test_reduce_local();
  test_zero_counts();
  use(MPI_COMM_WORLD, 2);
  CHECK_TAKEN();
  MPI_Errhandler_free(&noting);
  return finish();
}
