// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments of nonblocking and persistent collectives, on all ranks or on one, must give the
// MPI's own error class, after which the program can go on.
#include <vector>

#include "cases.h"
#include "exercise.h"
#include "mpi_faults.h"
#include "persistent.h"
#include "wrong_calls.h"

namespace {

using namespace test;

int class_of(const WrongCall& wrong, bool native, Form form, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = wrong.call({native, form, comm, &request});
  CHECK(error != MPI_SUCCESS && request == MPI_REQUEST_NULL, "%s", wrong.name);
  return test::class_of(error);
}

void make_wrong_call(const WrongCall& wrong, Form form, MPI_Comm comm) {
  const int expected = class_of(wrong, true, form, comm);
  const int found = class_of(wrong, false, form, comm);
  CHECK(found == expected, "%s: class %d, the MPI's %d", wrong.name, found, expected);
}

// Makes each of the calls in its forms.
template <class After>
void make_all(const std::vector<WrongCall>& all, MPI_Comm comm, bool here, After after) {
  for (const Form form : {Form::nonblocking, Form::persistent}) {
    for (const WrongCall& wrong : all) {
      if (!wrong.has(form)) continue;
      step("%s, form %d", wrong.name, static_cast<int>(form));
      if (here) make_wrong_call(wrong, form, comm);
      after();
    }
  }
}

#ifdef OPEN_MPI
// Counts beyond this MPI's int, in calls that Sumac does not serve: both forms must return the same
// error and call the communicator's error handler.
int errors_told = 0;
void count_error(MPI_Comm*, int*, ...) { ++errors_told; }

void refuse_large_counts(MPI_Comm comm) {
  step("counts beyond an int");
  const MPI_Count count = (MPI_Count{1} << 31) + 1;
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Request r = MPI_REQUEST_NULL;
  int errors[2] = {};
  for (const Form form : {Form::nonblocking, Form::persistent}) {
    errors[form == Form::persistent] =
        call("Allreduce_c", form, comm, &r, kIn, kOut, count, MPI_INT, MPI_OP_NULL);
  }
  for (int error : errors) CHECK(error == MPI_ERR_COUNT, "error %d", error);
  CHECK(errors_told == 2, "%d", errors_told);
  MPI_Comm_set_errhandler(comm, errors_return());
  MPI_Errhandler_free(&handler);
}
#else
// Without a place for the request the MPI returns an error, and Sumac counts the call as handed
// down.
void refuse_null_request(MPI_Comm comm) {
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
  refused(inits().Bcast(kOut, 1, MPI_INT, 0, comm, MPI_INFO_NULL, nullptr));
}
#endif

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

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Comm_set_errhandler(comm, errors_return());
  }
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  CHECK(warm_up(comm), "path '%s'", path());
  for (bool on_one_rank : {false, true}) {
    make_all(wrong_calls(), comm, !on_one_rank || rank == ranks - 1, [&] {
      use(comm, 1);
      use_nonblocking(comm);
    });
  }
  make_all(calls_on_null(), MPI_COMM_NULL, true, [] {});
#ifdef OPEN_MPI
  refuse_large_counts(comm);
#else
  refuse_null_request(comm);
#endif
  use(comm, 2);
  CHECK_TAKEN();
  MPI_Comm_free(&comm);
  return finish();
}
