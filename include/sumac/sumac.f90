! SPDX-License-Identifier: BSD-3-Clause
! Sumac's reductions as operations of the MPI: sumac.h for Fortran, with the integer handles of
! mpif.h and "use mpi". With "use mpi_f08", compile sumac_f08.f90 too and use that.
!
! Compile this file with the compiler of the program, for module files are each compiler's own, and
! with the same kind of default integer as the MPI. Link with -lsumac.
module sumac
  use, intrinsic :: iso_c_binding, only: c_int, c_loc, c_ptr
  implicit none
  private
  public :: sumac_op_create, sumac_hint_type, sumac_hint_op

  ! What an operation does: as MPI_SUM, MPI_PROD, ... MPI_MAXLOC.
  integer, parameter, public :: SUMAC_SUM = 1, SUMAC_PROD = 2, SUMAC_MIN = 3, SUMAC_MAX = 4, &
                                SUMAC_LAND = 5, SUMAC_LOR = 6, SUMAC_LXOR = 7, SUMAC_BAND = 8, &
                                SUMAC_BOR = 9, SUMAC_BXOR = 10, SUMAC_MINLOC = 11, &
                                SUMAC_MAXLOC = 12

  ! Flags of sumac_op_create: 0, or that the program's own OpenMP threads may help with large
  ! vectors.
  integer, parameter, public :: SUMAC_OP_THREADED = 1

  ! Elements that MPI has no type for.
  integer, parameter, public :: SUMAC_FLOAT16 = 1, SUMAC_BFLOAT16 = 2

  ! call sumac_op_create(kind, flags, op, ierror): an operation equal to the predefined one, to be
  ! freed with MPI_Op_free. On an error op stays as it was.
  interface sumac_op_create
    module procedure op_create
  end interface

  ! call sumac_hint_type(type, element, ierror): what the elements of a type of two bytes are.
  interface sumac_hint_type
    module procedure hint_type
  end interface

  ! call sumac_hint_op(op, kind, ierror): what an operation of MPI_Op_create does.
  interface sumac_hint_op
    module procedure hint_op
  end interface

  ! Handles by address: they have the kind of the default integer, which C calls MPI_Fint.
  interface
    integer(c_int) function c_op_create(kind, flags, op) bind(c, name="sumac_op_create_f")
      import c_int, c_ptr
      integer(c_int), value :: kind, flags
      type(c_ptr), value :: op
    end function
    integer(c_int) function c_hint_type(type, element) bind(c, name="sumac_hint_type_f")
      import c_int, c_ptr
      type(c_ptr), value :: type
      integer(c_int), value :: element
    end function
    integer(c_int) function c_hint_op(op, kind) bind(c, name="sumac_hint_op_f")
      import c_int, c_ptr
      type(c_ptr), value :: op
      integer(c_int), value :: kind
    end function
  end interface

contains

  subroutine op_create(kind, flags, op, ierror)
    integer, intent(in) :: kind, flags
    integer, intent(inout), target :: op
    integer, intent(out) :: ierror
    ierror = c_op_create(int(kind, c_int), int(flags, c_int), c_loc(op))
  end subroutine

  subroutine hint_type(type, element, ierror)
    integer, intent(in), target :: type
    integer, intent(in) :: element
    integer, intent(out) :: ierror
    ierror = c_hint_type(c_loc(type), int(element, c_int))
  end subroutine

  subroutine hint_op(op, kind, ierror)
    integer, intent(in), target :: op
    integer, intent(in) :: kind
    integer, intent(out) :: ierror
    ierror = c_hint_op(c_loc(op), int(kind, c_int))
  end subroutine
end module
