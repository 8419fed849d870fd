/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums the ranks with an operation of Sumac's, which is linked behind the MPI. Prints the sum. */
#include <mpi.h>
#include <stdio.h>
#include <sumac/sumac.h>

int main(int argc, char** argv) {
  MPI_Op sum;
  int rank, result = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (sumac_op_create(SUMAC_SUM, 0, &sum) != MPI_SUCCESS) return 1;
  MPI_Reduce(&rank, &result, 1, MPI_INT, sum, 0, MPI_COMM_WORLD);
  MPI_Op_free(&sum);
  if (rank == 0)
    printf("sum %d with Sumac %s, active %d\n", result, sumac_version(), sumac_active());
  MPI_Finalize();
  return 0;
}
