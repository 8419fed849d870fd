! SPDX-License-Identifier: BSD-3-Clause
! The same calls through each of the three Fortran bindings.
program binding_use_mpi_f08
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  include "took.inc"
  type(MPI_Request) :: requests(4)
  type(MPI_Status) :: status, statuses(4)
  include "body.inc"
end program
