// SPDX-License-Identifier: BSD-3-Clause
// A tool that changes what calls mean, as couplers and splitters do: each half of the job gets a
// communicator of its own for MPI_COMM_WORLD.
#include <mpi.h>

static MPI_Comm half = MPI_COMM_NULL;

static MPI_Comm replaced(MPI_Comm comm) { return comm == MPI_COMM_WORLD ? half : comm; }

int MPI_Init(int* argc, char*** argv) {
  int rank = 0;
  const int error = PMPI_Init(argc, argv);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  return error;
}

int MPI_Finalize(void) {
  PMPI_Comm_free(&half);
  return PMPI_Finalize();
}

int MPI_Comm_rank(MPI_Comm comm, int* rank) { return PMPI_Comm_rank(replaced(comm), rank); }

int MPI_Comm_size(MPI_Comm comm, int* size) { return PMPI_Comm_size(replaced(comm), size); }

int MPI_Barrier(MPI_Comm comm) { return PMPI_Barrier(replaced(comm)); }

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  return PMPI_Allreduce(send, receive, count, type, op, replaced(comm));
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return PMPI_Bcast(data, count, type, root, replaced(comm));
}

int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  return PMPI_Reduce(send, receive, count, type, op, root, replaced(comm));
}
