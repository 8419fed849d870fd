// SPDX-License-Identifier: BSD-3-Clause
// Calls that end in an unusual way: error handlers that throw or jump, and communicators freed
// under a barrier that has not ended.
#include <csetjmp>
#include <vector>

#include "exercise.h"
#include "persistent.h"

namespace {

using namespace test;

std::jmp_buf place;

// The exception leaves C frames of the MPI without any clean-up in them, as longjmp does.
void throw_it(MPI_Comm*, int* error, ...) { throw *error; }
void jump(MPI_Comm*, int*, ...) { std::longjmp(place, 1); }

void wrong_call(MPI_Comm comm) {
  int in = 0, out = 0;
  MPI_Allreduce(&in, &out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm);
}

// Later calls on this thread, from deeper and from shallower frames, must be served by Sumac as
// before.
void expect_as_before(MPI_Comm comm) {
  use(comm, 3);
  CHECK(was_taken(), "path '%s'", path());
  [&] {
    volatile char deeper[2000] = {};
    deeper[0] = 1;
    use(comm, 4 + deeper[1]);
    CHECK(was_taken(), "path '%s'", path());
  }();
}

// Calls act() while errors on the communicator call the handler.
template <class Act>
void with_handler(MPI_Comm comm, MPI_Comm_errhandler_function* function, Act act) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(function, &handler);
  // Some MPIs report wrong types on MPI_COMM_WORLD.
  for (const MPI_Comm each : {comm, MPI_COMM_WORLD}) MPI_Comm_set_errhandler(each, handler);
  act();
  expect_as_before(comm);
  for (const MPI_Comm each : {comm, MPI_COMM_WORLD}) {
    MPI_Comm_set_errhandler(each, MPI_ERRORS_ARE_FATAL);
  }
  MPI_Errhandler_free(&handler);
}

void left_by_exception(MPI_Comm comm) {
  step("left by exception");
  with_handler(comm, throw_it, [comm] {
    bool caught = false;
    try {
      wrong_call(comm);
    } catch (int) {
      caught = true;
    }
    CHECK(caught);
  });
}

void left_by_jump(MPI_Comm comm) {
  step("left by longjmp");
  with_handler(comm, jump, [comm] {
    if (setjmp(place) == 0) {
      wrong_call(comm);
      CHECK(false, "came back");
    }
  });
}

// The barrier ends only after a rank that has already freed the communicator sends rank 0 a
// message.
void freed_under_a_barrier() {
  for (int round = 0; round < 20; ++round) {
    step("freed under a barrier, round %d", round);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    warm_up(comm);
    int message = rank;
    MPI_Request requests[2];
    const auto begin = [&] {
      MPI_Ibarrier(comm, &requests[0]);
      const bool own = was_taken();
      MPI_Ibcast(&message, 1, MPI_INT, ranks - 1, comm, &requests[1]);
      return own;
    };
    if (rank == 0) {
      int told = 0;
      for (int r = 1; r < ranks; ++r) {
        MPI_Recv(&told, 1, MPI_INT, r, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      begin();
      MPI_Comm_free(&comm);
    } else {
      forget_path();
      const bool own = begin();
      CHECK(own || !require_taken, "path '%s'", path());
      if (own) MPI_Comm_free(&comm);  // some MPIs' own barriers crash here
      MPI_Send(&round, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(message == ranks - 1, "%d", message);
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
  use(MPI_COMM_WORLD, 1);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  warm_up(comm);
  warm_up(MPI_COMM_WORLD);
  left_by_exception(comm);
  left_by_jump(comm);
  freed_under_a_barrier();
  MPI_Comm_free(&comm);
  if (require_taken) ++taken_nonblocking;
  return finish();
}
