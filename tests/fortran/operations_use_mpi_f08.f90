! SPDX-License-Identifier: BSD-3-Clause
! Module sumac used with each of the three Fortran bindings.
! A user-defined operation.
module users
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  implicit none
contains
  subroutine add(in, inout, length, type)
    type(c_ptr), value :: in, inout
    integer :: length
    type(MPI_Datatype) :: type
    integer, pointer :: left(:), right(:)
    call c_f_pointer(in, left, [length])
    call c_f_pointer(inout, right, [length])
    right = left + right
    if (type /= MPI_INTEGER) error stop 1
  end subroutine
end module

program operations_use_mpi_f08
  use users, only: add
  use mpi_f08
  use sumac_f08
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  type(MPI_Op) :: op
  type(MPI_Datatype) :: two
  include "operations.inc"
end program
