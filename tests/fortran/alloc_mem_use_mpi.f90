! SPDX-License-Identifier: BSD-3-Clause
! MPI_Alloc_mem gives a C_PTR, by a specific procedure.
program alloc_mem_use_mpi
  use mpi
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int, c_ptr
  implicit none
  include "went_direct.inc"
  integer, parameter :: n = 100000
  double precision, pointer, asynchronous :: x(:)
  type(c_ptr) :: memory
  integer :: rank, ranks, ierror, i, direct = 0, wrong = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Alloc_mem(int(8 * n, MPI_ADDRESS_KIND), MPI_INFO_NULL, memory, ierror)
  include "alloc_mem.inc"
end program
