! SPDX-License-Identifier: BSD-3-Clause
! Module sumac used with each of the three Fortran bindings.
! A user-defined operation.
module users
#include "binding.inc"
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  implicit none
contains
  subroutine add(in, inout, length, type)
    integer :: length
    HANDLE(MPI_Datatype) :: type
#ifdef BINDING_MPIF
    include 'mpif.h'
#endif
#ifdef BINDING_F08
    type(c_ptr), value :: in, inout
    integer, pointer :: left(:), right(:)
    call c_f_pointer(in, left, [length])
    call c_f_pointer(inout, right, [length])
    right = left + right
#else
    integer :: in(length), inout(length)
    inout = in + inout
#endif
    if (type /= MPI_INTEGER) error stop 1
  end subroutine
end module

program operations
#include "binding.inc"
  use users, only: add
#ifdef BINDING_F08
  use sumac_f08
#else
  use sumac
#endif
#include "took.inc"
  HANDLE(MPI_Op) :: op
  HANDLE(MPI_Datatype) :: two
  integer, parameter :: constants(15) = [ &
    SUMAC_SUM, SUMAC_PROD, SUMAC_MIN, SUMAC_MAX, SUMAC_LAND, SUMAC_LOR, SUMAC_LXOR, SUMAC_BAND, &
    SUMAC_BOR, SUMAC_BXOR, SUMAC_MINLOC, SUMAC_MAXLOC, SUMAC_OP_THREADED, SUMAC_FLOAT16, &
    SUMAC_BFLOAT16]
  integer :: rank, ranks, ierror, i, wrong
  integer :: numbers(100), results(100)
  real :: x(5000), y(5000)
  integer :: served

  wrong = 0
  served = merge(0, 1, command_argument_count() > 0)  ! --linked
  op = MPI_OP_NULL
  call sumac_op_create(SUMAC_SUM, 0, op, ierror)
  if (ierror /= MPI_ERR_OTHER .or. op /= MPI_OP_NULL) wrong = wrong + 1
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)

  ! The constants of the module must be those of the header
  do i = 1, size(constants)
    if (constants(i) /= in_header(i - 1)) wrong = wrong + 1
  end do

  do i = 1, 3
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end do
  numbers = [(i + rank, i = 1, 100)]
  call sumac_op_create(SUMAC_SUM, 0, op, ierror)
  if (ierror /= MPI_SUCCESS .or. op == MPI_OP_NULL) wrong = wrong + 1
  call MPI_Allreduce(numbers, results, 100, MPI_INTEGER, op, MPI_COMM_WORLD, ierror)
  if (took() /= served) wrong = wrong + 1
  wrong = wrong + count(results /= [(ranks * i + ranks * (ranks - 1) / 2, i = 1, 100)])
  call MPI_Op_free(op, ierror)
  if (ierror /= MPI_SUCCESS .or. op /= MPI_OP_NULL) wrong = wrong + 1

  call sumac_op_create(SUMAC_BXOR, 0, op, ierror)
  call MPI_Allreduce(numbers, results, 100, MPI_INTEGER, op, MPI_COMM_WORLD, ierror)
  call MPI_Allreduce(MPI_IN_PLACE, numbers, 100, MPI_INTEGER, MPI_BXOR, MPI_COMM_WORLD, ierror)
  wrong = wrong + count(results /= numbers)
  call MPI_Op_free(op, ierror)

  x = [(real(rank * i), i = 1, 5000)]
  call sumac_op_create(SUMAC_MAX, SUMAC_OP_THREADED, op, ierror)
  if (ierror /= MPI_SUCCESS) wrong = wrong + 1
  call MPI_Reduce(x, y, 5000, MPI_REAL, op, ranks - 1, MPI_COMM_WORLD, ierror)
  if (rank == ranks - 1) wrong = wrong + count(y /= x)
  call MPI_Op_free(op, ierror)

  ! A user-defined operation, and a type of two bytes
  call MPI_Op_create(add, .true., op, ierror)
  numbers = rank + 1
  results = 0
  call MPI_Allreduce(numbers, results, 100, MPI_INTEGER, op, MPI_COMM_WORLD, ierror)
  if (took() /= served) wrong = wrong + 1
  wrong = wrong + count(results /= ranks * (ranks + 1) / 2)
  results = -1
  call MPI_Reduce(numbers, results, 1, MPI_INTEGER, op, ranks - 1, MPI_COMM_WORLD, ierror)
  if (took() /= served) wrong = wrong + 1
  if (rank == ranks - 1 .and. results(1) /= ranks * (ranks + 1) / 2) wrong = wrong + 1
  call sumac_hint_op(op, SUMAC_SUM, ierror)
  if (ierror /= MPI_SUCCESS) wrong = wrong + 1
  numbers = rank + 1
  call MPI_Allreduce(numbers, results, 100, MPI_INTEGER, op, MPI_COMM_WORLD, ierror)
  if (took() /= served) wrong = wrong + 1
  wrong = wrong + count(results /= ranks * (ranks + 1) / 2)
  call MPI_Op_free(op, ierror)
  call MPI_Type_contiguous(2, MPI_BYTE, two, ierror)
  call sumac_hint_type(two, SUMAC_BFLOAT16, ierror)
  if (ierror /= MPI_SUCCESS) wrong = wrong + 1
  call sumac_hint_type(two, 7, ierror)
  if (ierror /= MPI_ERR_ARG) wrong = wrong + 1
  call MPI_Type_free(two, ierror)

  op = MPI_SUM
  call sumac_op_create(0, 0, op, ierror)
  if (ierror /= MPI_ERR_ARG .or. op /= MPI_SUM) wrong = wrong + 1
  call sumac_op_create(SUMAC_SUM, 2, op, ierror)
  if (ierror /= MPI_ERR_ARG) wrong = wrong + 1
  call sumac_hint_op(op, SUMAC_SUM, ierror)
  if (ierror /= MPI_ERR_OP) wrong = wrong + 1
  call sumac_hint_type(MPI_REAL, SUMAC_FLOAT16, ierror)
  if (ierror /= MPI_ERR_TYPE) wrong = wrong + 1

  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0 .and. wrong == 0) print '(a)', 'passed: 1'
  if (rank == 0 .and. wrong /= 0) print '(a,i0)', 'wrong: ', wrong
  call MPI_Finalize(ierror)
end program
