! SPDX-License-Identifier: BSD-3-Clause
! Every collective that Sumac serves, blocking, nonblocking and persistent, through each of the three
! Fortran bindings; by `use mpi_f08` also what only that has: sections of arrays, and calls without
! ierror.
program collectives
#include "binding.inc"
#if defined BINDING_F08 && defined OLDER_PERSISTENT
  use mpi_f08_ext
#endif
#include "took.inc"
  HANDLE(MPI_Request) :: request
  HANDLE(MPI_Datatype) :: whole, types(16)
  integer, parameter :: n = 40, most = 16  ! elements for each rank; ranks
  integer, parameter :: blocking = 1, nonblocking = 2, persistent = 3
  character(12), parameter :: forms(3) = ['blocking    ', 'nonblocking ', 'persistent  ']
  integer :: rank, ranks, ierror, wrong, checks, form, i, rest
  integer, asynchronous :: mine(n), sums(n)
  integer, asynchronous :: outgoing(n * most), incoming(n * most)
  integer, asynchronous :: counts(most), places(most), bytes(most)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  if (ranks > most) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  wrong = 0
  checks = 0
  ! Parts of different lengths, with gaps: rank i's is of i + 3 elements.
  counts = [(i + 2, i = 1, most)]
  places = [((i - 1) * n, i = 1, most)]
  bytes = places * 4
  types = MPI_INTEGER
  do i = 1, 3
    call MPI_Barrier(MPI_COMM_WORLD, ierror)  ! Sumac serves no communicator from its first call on
  end do
  do form = blocking, persistent
    do rest = 0, 1
      call try_allreduce(rest == 1)
      call try_reduce(mod(rest, ranks), rest == 1)
      call try_bcast(mod(rest, ranks))
      call try_reduce_scatter_block(rest == 1)
      call try_reduce_scatter(rest == 1)
      call try_allgather(rest == 1)
      call try_allgatherv(rest == 1)
      call try_alltoall(rest == 1)
      call try_alltoallv(rest == 1)
      call try_alltoallw(rest == 1)
    end do
    call try_barrier()
    call try_bottom()
  end do
  call try_reduce_local()
  call try_types()
  call try_several()
#ifdef BINDING_F08
  call try_sections()
#endif
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call MPI_Allreduce(MPI_IN_PLACE, checks, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0 .and. wrong == 0) print '(a,i0,a,i0,a)', 'passed: ', checks, ' checks on ', ranks, &
    ' ranks, 0 failed'
  if (rank == 0 .and. wrong /= 0) print '(a,i0)', 'wrong: ', wrong
  call MPI_Finalize(ierror)
  if (wrong /= 0) error stop 1
contains
#include "folds.inc"
#include "exchanges.inc"
#ifdef BINDING_F08

  ! Rows of a table, whose elements have gaps between them. Where the binding copies sections, only
  ! blocking calls may have them. They are not received in parts of several ranks: MPICH 4.0 puts
  ! those into wrong places.
  subroutine try_sections()
    integer, asynchronous :: table(3, n)
    form = blocking
    table = -1
    table(2, :) = merge(element([(i, i = 1, n)], rank), -1, rank == 0)
    call MPI_Bcast(table(2, :), n, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call check(took() /= 0, 'broadcast of a section, which Sumac did not take,')
    call check(all(table(2, :) == element([(i, i = 1, n)], 0)), 'broadcast of a section')
    call check(all(table(::2, :) == -1), 'broadcast of a section, in its gaps,')
    table(2, :) = element([(i, i = 1, n)], rank)
    incoming = -1
    call MPI_Allgather(table(2, :), n, MPI_INTEGER, incoming, n, MPI_INTEGER, MPI_COMM_WORLD)
    call check(took() /= 0, 'all-gather of sections, which Sumac did not take,')
    call check_gathered()
#ifdef SUBARRAYS
    call check(MPI_SUBARRAYS_SUPPORTED, 'MPI_SUBARRAYS_SUPPORTED')
    do form = nonblocking, persistent
      incoming = -1
      if (form == nonblocking) then
        call MPI_Iallgather(table(2, :), n, MPI_INTEGER, incoming, n, MPI_INTEGER, MPI_COMM_WORLD, &
                            request)
      else
        call MPI_Allgather_init(table(2, :), n, MPI_INTEGER, incoming, n, MPI_INTEGER, &
                                MPI_COMM_WORLD, MPI_INFO_NULL, request)
      end if
      call complete('all-gather of sections')
      call check_gathered()
    end do
#else
    call check(.not. MPI_SUBARRAYS_SUPPORTED, 'MPI_SUBARRAYS_SUPPORTED')
#endif
  end subroutine

  subroutine check_gathered()
    do i = 0, ranks * n - 1
      if (incoming(i + 1) /= element(mod(i, n) + 1, i / n)) exit
    end do
    call check(i == ranks * n, 'all-gather of sections')
  end subroutine
#endif
end program
