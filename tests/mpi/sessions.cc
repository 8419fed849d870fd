// SPDX-License-Identifier: BSD-3-Clause
// A program that uses sessions only, without MPI_Init and MPI_COMM_WORLD. Sumac serves its blocking
// calls; the MPI serves nonblocking and persistent ones. All results must be right. Skipped where
// the MPI has no sessions.
#include <vector>

#include "exercise.h"
#include "persistent.h"

namespace {

using namespace test;

#if MPI_VERSION >= 4

struct Pair {
  double value;
  int index;
};

void nonblocking(MPI_Comm comm) {
  step("nonblocking");
  MPI_Datatype column;
  MPI_Type_vector(4, 1, 2, MPI_INT, &column);
  MPI_Type_commit(&column);
  std::vector<int> data(8, rank == 0 ? 5 : -1);
  Pair in{1.0 + rank, rank}, out{-1, -1};
  MPI_Request requests[3];
  MPI_Ibcast(data.data(), 1, column, 0, comm, &requests[0]);
  MPI_Iallreduce(&in, &out, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm, &requests[1]);
  MPI_Ibarrier(comm, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  CHECK(data[6] == 5 && data[7] == (rank == 0 ? 5 : -1), "%d %d", data[6], data[7]);
  CHECK(out.value == 1.0 && out.index == 0, "%g %d", out.value, out.index);
  MPI_Type_free(&column);
}

void persistent(MPI_Comm comm) {
  step("persistent");
  int in = rank, out = -1;
  MPI_Request request;
  CHECK(inits().Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request) ==
        MPI_SUCCESS);
  for (int i = 0; i < 3; ++i) {
    out = -1;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(out == ranks * (ranks - 1) / 2, "%d", out);
  }
  MPI_Request_free(&request);
}

void live(int epoch) {
  step("session %d", epoch);
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm, copy;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "sumac-test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  // An attribute key that the program creates first must never be mistaken for one of Sumac's.
  int key, value = 7, found = 0, *kept = nullptr;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm_set_attr(comm, key, &value);
  for (int i = 0; i < 4; ++i) use(comm, epoch + i);
  CHECK(was_taken(), "path '%s'", path());
  nonblocking(comm);
  persistent(comm);
  MPI_Comm_dup(comm, &copy);
  for (int i = 0; i < 3; ++i) use(copy, epoch + i);
  MPI_Comm_free(&copy);
  MPI_Comm_get_attr(comm, key, &kept, &found);
  CHECK(found && kept == &value);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
}

int run() {
  limit_time();
  // Keeps one session open throughout: MPICH 4.0 crashes by itself after the end of its last
  // session.
  MPI_Session outer;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &outer);
  for (int epoch = 0; epoch < 5; ++epoch) live(epoch);
  MPI_Session_finalize(&outer);
  return report(checks, failures);
}

#else

int run() {
  std::printf("SKIPPED: this MPI has no sessions\n");
  return 0;
}

#endif

}  // namespace

int main() { return run(); }
