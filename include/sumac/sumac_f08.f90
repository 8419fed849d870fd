! SPDX-License-Identifier: BSD-3-Clause
! Module sumac, and the same procedures with the handles of mpi_f08. A file of its own, for not
! every MPI has that module for every compiler. Compile it after sumac.f90.
module sumac_f08
  use mpi_f08, only: MPI_Datatype, MPI_Op
  use sumac
  implicit none

  interface sumac_op_create
    module procedure op_create_f08
  end interface
  interface sumac_hint_type
    module procedure hint_type_f08
  end interface
  interface sumac_hint_op
    module procedure hint_op_f08
  end interface
  private :: op_create_f08, hint_type_f08, hint_op_f08, MPI_Datatype, MPI_Op

contains

  subroutine op_create_f08(kind, flags, op, ierror)
    integer, intent(in) :: kind, flags
    type(MPI_Op), intent(inout) :: op
    integer, intent(out) :: ierror
    call sumac_op_create(kind, flags, op%MPI_VAL, ierror)
  end subroutine

  subroutine hint_type_f08(type, element, ierror)
    type(MPI_Datatype), intent(in) :: type
    integer, intent(in) :: element
    integer, intent(out) :: ierror
    call sumac_hint_type(type%MPI_VAL, element, ierror)
  end subroutine

  subroutine hint_op_f08(op, kind, ierror)
    type(MPI_Op), intent(in) :: op
    integer, intent(in) :: kind
    integer, intent(out) :: ierror
    call sumac_hint_op(op%MPI_VAL, kind, ierror)
  end subroutine
end module
