! SPDX-License-Identifier: BSD-3-Clause
! MPI_Alloc_mem gives a C_PTR.
program alloc_mem_use_mpi_f08
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int, c_ptr
  implicit none
  include "alloc_mem_begin.inc"
  call MPI_Alloc_mem(int(8 * n, MPI_ADDRESS_KIND), MPI_INFO_NULL, memory, ierror)
  include "alloc_mem.inc"
end program
