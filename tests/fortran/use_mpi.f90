! SPDX-License-Identifier: BSD-3-Clause
! The same calls through each of the three Fortran bindings.
program binding_use_mpi
  use mpi
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  include "took.inc"
  integer :: requests(4), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 4)
  include "body.inc"
end program
