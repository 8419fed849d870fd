! SPDX-License-Identifier: BSD-3-Clause
! A fixed number of calls through one of the three Fortran bindings: BINDING_MPIF, BINDING_USE_MPI
! or BINDING_F08. Prints whether Sumac served an all-reduce, and whether the results were right.
program bindings
#if defined(BINDING_F08)
  use mpi_f08
#elif defined(BINDING_USE_MPI)
  use mpi
#endif
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
#if defined(BINDING_MPIF)
  include 'mpif.h'
#endif
  interface
    integer(c_int) function took() bind(c, name="sumac_took_it")
      import c_int
    end function
  end interface
#if defined(BINDING_F08)
  type(MPI_Comm) :: other
  type(MPI_Request) :: requests(2)
#else
  integer :: other, requests(2)
#endif
  integer, asynchronous :: numbers(100), sums(100), more(100)
  integer :: rank, ranks, ierror, i, wrong
  logical :: served

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  wrong = 0
  numbers = [(i + rank, i = 1, 100)]
  do i = 1, 20
    call MPI_Allreduce(numbers, sums, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end do
  served = took() /= 0
  wrong = wrong + count(sums /= [(ranks * i + ranks * (ranks - 1) / 2, i = 1, 100)])
  call MPI_Reduce(numbers, sums, 100, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, ierror)
  more = rank
  call MPI_Bcast(more, 100, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, ierror)
  wrong = wrong + count(more /= ranks - 1)
  call MPI_Iallreduce(numbers, sums, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Ibcast(more, 100, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierror)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
  wrong = wrong + count(sums /= [(ranks * i + ranks * (ranks - 1) / 2, i = 1, 100)])
  call MPI_Ibarrier(MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Ibarrier(MPI_COMM_WORLD, requests(2), ierror)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, other, ierror)
  call MPI_Allreduce(numbers, sums, 100, MPI_INTEGER, MPI_SUM, other, ierror)
  call MPI_Comm_free(other, ierror)
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(a,l1,a,i0)', 'served ', served, ', wrong ', wrong
  call MPI_Finalize(ierror)
end program
