! SPDX-License-Identifier: BSD-3-Clause
! All collectives by `use mpi_f08`, and what only that has: sections of arrays, and calls without
! ierror.
program collectives_use_mpi_f08
  use mpi_f08
#ifdef OLDER_PERSISTENT
  use mpi_f08_ext
#endif
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
#include "took.inc"
  type(MPI_Request) :: request
  type(MPI_Datatype) :: whole, types(16)
#define SECTIONS
#include "collectives.inc"
contains
#include "collectives_folds.inc"
#include "collectives_exchanges.inc"

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
end program
