! SPDX-License-Identifier: BSD-3-Clause
! The plain method of cg in Fortran: it solves the same problems, and prints the same lines.
!
!   mpiexec -n 2 cg-fortran [-n cells] [-i iterations] [-t tolerance] [-r problems]
program cg
  use mpi_f08
  use box
  use solver
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer :: cells = 8, limit = 1000, problems = 10
  real(real64) :: tolerance = 1e-8_real64
  logical :: understood, failed = .false.

  call MPI_Init()
  call read_arguments()
  if (understood) call run()
  call MPI_Finalize()
  if (.not. understood) stop 2, quiet=.true.
  if (failed) stop 1, quiet=.true.

contains

  subroutine run()
    type(grid) :: g
    real(real64), allocatable, dimension(:, :, :) :: x, b
    real(real64) :: start, seconds, residual, worst
    integer :: problem, iterations, all_iterations, failures
    call make_grid(g, cells)
    allocate (x(0:cells + 1, 0:cells + 1, 0:cells + 1), b(0:cells + 1, 0:cells + 1, 0:cells + 1))
    seconds = 0
    worst = 0
    all_iterations = 0
    failures = 0
    do problem = 0, problems - 1
      call random_right_hand_side(g, problem, b)
      call MPI_Barrier(g%comm)
      start = MPI_Wtime()
      iterations = solve(g, b, x, tolerance, limit)
      seconds = seconds + MPI_Wtime() - start
      failures = failures + merge(1, 0, iterations < 0)
      all_iterations = all_iterations + merge(iterations, limit, iterations >= 0)
      residual = true_residual(g, b, x)
      if (.not. residual <= worst) worst = residual  ! so that a NaN is kept
    end do
    call report(g, all_iterations, failures, worst, seconds)
    ! The residual of the recurrence may differ from the true one only by rounding errors.
    failed = failures > 0 .or. .not. worst < 10 * tolerance
    call free_grid(g)
  end subroutine

  ! The time of the slowest rank, the mean over ranks of the time in all-reduces, and results that
  ! are the same on all ranks.
  subroutine report(g, iterations, failures, residual, seconds)
    type(grid), intent(in) :: g
    integer, intent(in) :: iterations, failures
    real(real64), intent(in) :: residual, seconds
    real(real64) :: longest, collective
    call MPI_Reduce(seconds, longest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, g%comm)
    call MPI_Reduce(collective_seconds, collective, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, g%comm)
    if (g%rank /= 0) return
    print '(a)', 'method           plain'
    print '(a,i0,3(a,i0),a)', 'ranks            ', g%ranks, ' (', g%boxes(1), ' x ', g%boxes(2), &
      ' x ', g%boxes(3), ')'
    print '(a,i0,a)', 'cells_per_rank   ', cells, '^3'
    print '(a,i0)', 'problems         ', problems
    print '(a,i0)', 'iterations       ', iterations
    print '(a,es0.16)', 'true_residual    ', residual
    print '(a,f0.6)', 'seconds          ', longest
    print '(a,f0.6)', 'collectives      ', collective / g%ranks
    if (failures > 0) write (error_unit, '(i0,a)') failures, ' problems did not converge'
  end subroutine

  subroutine read_arguments()
    character(32) :: option, value
    integer :: i, status
    understood = .true.
    do i = 1, command_argument_count(), 2
      call get_command_argument(i, option)
      call get_command_argument(i + 1, value)
      select case (option)
      case ('-n')
        read (value, *, iostat=status) cells
      case ('-i')
        read (value, *, iostat=status) limit
      case ('-t')
        read (value, *, iostat=status) tolerance
      case ('-r')
        read (value, *, iostat=status) problems
      case default
        status = 1
      end select
      understood = understood .and. status == 0
    end do
    understood = understood .and. min(cells, limit, problems) > 0 .and. tolerance > 0
    if (.not. understood) write (error_unit, '(a)') &
      'usage: cg-fortran [-n cells] [-i iterations] [-t tolerance] [-r problems]'
  end subroutine
end program
