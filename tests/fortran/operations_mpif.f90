! SPDX-License-Identifier: BSD-3-Clause
! Module sumac used with each of the three Fortran bindings.
! A user-defined operation.
module users
  implicit none
contains
  subroutine add(in, inout, length, type)
    integer :: length, type
    include 'mpif.h'
    integer :: in(length), inout(length)
    if (type /= MPI_INTEGER) error stop 1
    inout = in + inout
  end subroutine
end module

program operations_mpif
  use users, only: add
  use sumac
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  include 'mpif.h'
  integer :: op, two
  include "operations.inc"
end program
