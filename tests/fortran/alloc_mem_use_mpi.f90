! SPDX-License-Identifier: BSD-3-Clause
! MPI_Alloc_mem gives a C_PTR, by a specific procedure.
program alloc_mem_use_mpi
  use mpi
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int, c_ptr
  implicit none
  include "alloc_mem_begin.inc"
  call MPI_Alloc_mem(int(8 * n, MPI_ADDRESS_KIND), MPI_INFO_NULL, memory, ierror)
  include "alloc_mem.inc"
end program
