! SPDX-License-Identifier: BSD-3-Clause
! MPI_Alloc_mem gives an address as an integer.
program alloc_mem_mpif
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int, c_ptr
  implicit none
  include 'mpif.h'
  integer(kind=MPI_ADDRESS_KIND) :: address
  include "alloc_mem_begin.inc"
  call MPI_Alloc_mem(int(8 * n, MPI_ADDRESS_KIND), MPI_INFO_NULL, address, ierror)
  memory = transfer(address, memory)
  include "alloc_mem.inc"
end program
