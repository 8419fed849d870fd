! SPDX-License-Identifier: BSD-3-Clause
! All-reduces of an array in memory of MPI_Alloc_mem, through each of the three Fortran bindings.
program alloc_mem
#include "binding.inc"
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
#include "took.inc"
#ifdef BINDING_MPIF
  integer(kind=MPI_ADDRESS_KIND) :: address
#endif
  integer, parameter :: n = 100000
  double precision, pointer, asynchronous :: x(:)
  type(c_ptr) :: memory
  integer :: rank, ranks, ierror, i, direct = 0, wrong = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
#ifdef BINDING_MPIF
  call MPI_Alloc_mem(int(8 * n, MPI_ADDRESS_KIND), MPI_INFO_NULL, address, ierror)
  memory = transfer(address, memory)
#else
  call MPI_Alloc_mem(int(8 * n, MPI_ADDRESS_KIND), MPI_INFO_NULL, memory, ierror)
#endif
  call c_f_pointer(memory, x, [n])
  do i = 1, 20
    x = rank + i
    call MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
    if (went_direct() /= 0) direct = direct + 1
    wrong = wrong + count(x /= dble(ranks * i + ranks * (ranks - 1) / 2))
  end do
  call MPI_Free_mem(x, ierror)
  if (ierror /= MPI_SUCCESS .or. direct < 10) wrong = wrong + 1
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0 .and. wrong == 0) print '(a)', 'passed: 1'
  if (rank == 0 .and. wrong /= 0) print '(a,i0,a,i0)', 'wrong: ', wrong, ', direct: ', direct
  call MPI_Finalize(ierror)
end program
