! SPDX-License-Identifier: BSD-3-Clause
! Module sumac used with each of the three Fortran bindings.
! A user-defined operation.
module users
  use mpi
  implicit none
contains
  subroutine add(in, inout, length, type)
    integer :: length, type
    integer :: in(length), inout(length)
    inout = in + inout
    if (type /= MPI_INTEGER) error stop 1
  end subroutine
end module

program operations_use_mpi
  use users, only: add
  use mpi
  use sumac
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  integer :: op, two
  include "operations.inc"
end program
