/* SPDX-License-Identifier: BSD-3-Clause */
/* Loaded in front of Horovod, and of Sumac where it is there: it times the all-reduces of
 * gradients, in the same way with Sumac and without. With FRONT_HINTS=1 it tells Sumac what
 * Horovod's own type of two bytes and its own operation are, which Horovod would have to do itself.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double seconds;
static long calls;
static double bytes;

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  int size = 0;
  const double begin = PMPI_Wtime();
  const int error = PMPI_Allreduce(send, receive, count, type, op, comm);
  if (op == MPI_BAND || op == MPI_BOR) return error; /* which gradients are ready */
  seconds += PMPI_Wtime() - begin;
  PMPI_Type_size(type, &size);
  bytes += (double)count * size;
  ++calls;
  return error;
}

/* What train.py reads at the beginning and the end of the steps that it times. */
void front_read(double* of_seconds, double* of_calls, double* of_bytes) {
  *of_seconds = seconds;
  *of_calls = (double)calls;
  *of_bytes = bytes;
}

static int hints_are_wanted(void) {
  const char* text = getenv("FRONT_HINTS");
  return text != NULL && text[0] == '1';
}

int MPI_Type_commit(MPI_Datatype* type) {
  const int error = PMPI_Type_commit(type);
  int (*hint)(MPI_Datatype, int) =
      (int (*)(MPI_Datatype, int))dlsym(RTLD_DEFAULT, "sumac_hint_type");
  int size = 0;
  PMPI_Type_size(*type, &size);
  if (hints_are_wanted() && hint != NULL && size == 2) hint(*type, 1); /* SUMAC_FLOAT16 */
  return error;
}

/* Horovod creates one operation: the sum of such numbers. */
int MPI_Op_create(MPI_User_function* function, int commutes, MPI_Op* op) {
  const int error = PMPI_Op_create(function, commutes, op);
  int (*hint)(MPI_Op, int) = (int (*)(MPI_Op, int))dlsym(RTLD_DEFAULT, "sumac_hint_op");
  if (hints_are_wanted() && hint != NULL) hint(*op, 1); /* SUMAC_SUM */
  return error;
}
