! SPDX-License-Identifier: BSD-3-Clause
! Sums ranks by an operation of Sumac's. Prints the sum.
program app
  use mpi
  use sumac
  implicit none
  integer :: sum, rank, ierror, values(1), results(1)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call sumac_op_create(SUMAC_SUM, 0, sum, ierror)
  if (ierror /= MPI_SUCCESS) error stop 1
  values = rank
  results = 0
  call MPI_Reduce(values, results, 1, MPI_INTEGER, sum, 0, MPI_COMM_WORLD, ierror)
  call MPI_Op_free(sum, ierror)
  if (rank == 0) print '(a, i0)', 'sum ', results(1)
  call MPI_Finalize(ierror)
end program
