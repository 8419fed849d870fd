// SPDX-License-Identifier: BSD-3-Clause
// A rank is killed, and the program has asked for errors to be returned, as Open MPI 5 offers with
// 'mpirun --with-ft ulfm': the others are told, make a communicator without it and go on.
// failed_rank COLLECTIVES: so many collectives before the rank ends. Skipped without that option.
#include <csignal>

#include "exercise.h"
#include "mpi_faults.h"

namespace {

using namespace test;

constexpr int kProcFailed = 75, kProcFailedPending = 76, kRevoked = 77;  // of Open MPI

using OfComm = int (*)(MPI_Comm);
using OfTwo = int (*)(MPI_Comm, MPI_Comm*);

bool is_on() {
  const char* value = std::getenv("OMPI_MCA_mpi_ft_enable");
  return value && *value != '0' && in_sumac<OfTwo>("MPIX_Comm_shrink");
}

bool tells_of_failure(int error) {
  const int kind = class_of(error);
  return kind == kProcFailed || kind == kProcFailedPending || kind == kRevoked;
}

// Each rank may learn of it at another call; once one has, it revokes the communicator for all.
bool is_told(MPI_Comm comm, int attempt) {
  int in = 1, out = 0, error;
  MPI_Request request;
  switch (attempt % 4) {
    case 0:
      error = MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
      break;
    case 1:
      error = MPI_Barrier(comm);
      break;
    case 2:
      error = MPI_Bcast(&in, 1, MPI_INT, 0, comm);
      break;
    default:
      error = MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_MAX, comm, &request);
      if (error == MPI_SUCCESS) error = MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (error == MPI_SUCCESS) return false;
  CHECK(tells_of_failure(error), "error %d at attempt %d", error, attempt);
  return true;
}

// Returns the communicator of the ranks that are left.
MPI_Comm without_failed(MPI_Comm comm) {
  step("waiting for the error");
  for (int attempt = 0; !is_told(comm, attempt); ++attempt) usleep(1000);
  step("making a communicator of the others");
  in_sumac<OfComm>("MPIX_Comm_revoke")(comm);
  MPI_Comm rest = MPI_COMM_NULL;
  CHECK(in_sumac<OfTwo>("MPIX_Comm_shrink")(comm, &rest) == MPI_SUCCESS);
  return rest;
}

void use_rest(MPI_Comm rest) {
  step("using what is left");
  int size = 0;
  MPI_Comm_size(rest, &size);
  CHECK(size == ranks - 1, "%d", size);
  for (int i = 0; i < 20; ++i) use(rest, i);
  if (size > 1) CHECK_HANDED_DOWN("the job goes on without ranks that fail (mpirun --with-ft)");
  MPI_Comm part;
  MPI_Comm_split(rest, rank % 2, rank, &part);
  for (int i = 0; i < 5; ++i) use(part, i);
  MPI_Comm_free(&part);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  if (!is_on()) return end_skipped("this needs Open MPI 5 and its option --with-ft ulfm");
  const int before = argc > 1 ? std::atoi(argv[1]) : 5;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, errors_return());
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors_return());
  for (int i = 0; i < before; ++i) use(comm, i);
  if (rank == ranks - 1) raise(SIGKILL);
  MPI_Comm rest = without_failed(comm);
  use_rest(rest);
  long own[2] = {checks, failures}, all[2] = {};
  MPI_Allreduce(own, all, 2, MPI_LONG, MPI_SUM, rest);
  const int status = report(all[0], all[1]);
  MPI_Barrier(rest);
  _exit(status);  // Open MPI 5.0 alone may wait for the failed rank in MPI_Finalize
}
