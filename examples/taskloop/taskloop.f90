! SPDX-License-Identifier: BSD-3-Clause
! A large reduction and other work share the threads of one parallel region. The main thread calls
! MPI_Reduce with an operation of Sumac's; the operation cuts its loops into OpenMP tasks, which run
! beside the tasks of this program's own taskloop on whatever thread is idle. With a predefined
! operation the main thread would do all of the reduction alone.
!
!   mpiexec -n 2 taskloop [elements] [steps]
program taskloop
  use mpi_f08
  use sumac_f08
  implicit none

  integer, parameter :: cells = 1000, sweeps = 200
  integer :: elements, steps, step, rank, ranks, provided, cell, ierror
  real, allocatable :: part(:), total(:)
  double precision :: field(cells), expected(cells)
  type(MPI_Op) :: op
  logical :: own_op, right, all_right

  elements = argument(1, 1000000)
  steps = argument(2, 5)
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call sumac_op_create(SUMAC_SUM, SUMAC_OP_THREADED, op, ierror)
  own_op = ierror == MPI_SUCCESS
  if (.not. own_op) op = MPI_SUM  ! Sumac is switched off, or does not support this MPI

  allocate (part(elements), total(elements))
  field = 0
  right = provided >= MPI_THREAD_FUNNELED
  do step = 1, steps
    call fill(part, rank, step)
    !$omp parallel default(shared)
    ! Only the main thread may call MPI. The other threads wait at the barrier, where they execute
    ! tasks.
    !$omp master
    !$omp taskloop nogroup grainsize(50)
    do cell = 1, cells
      call relax(field(cell), cell)
    end do
    !$omp end taskloop
    call MPI_Reduce(part, total, elements, MPI_REAL, op, 0, MPI_COMM_WORLD)
    !$omp end master
    !$omp barrier
    !$omp end parallel
    if (rank == 0) right = right .and. is_sum(total, ranks, step)
  end do
  if (own_op) call MPI_Op_free(op)

  ! The same work with one thread.
  expected = 0
  do step = 1, steps
    do cell = 1, cells
      call relax(expected(cell), cell)
    end do
  end do
  right = right .and. all(field == expected)
  call MPI_Reduce(right, all_right, 1, MPI_LOGICAL, MPI_LAND, 0, MPI_COMM_WORLD)
  if (rank == 0 .and. all_right) then
    print '(a,i0,a,i0,a,i0,a)', 'taskloop: ', steps, ' sums of ', elements, ' reals on ', ranks, &
      ' ranks, and the tasks beside them: right'
  end if
  call MPI_Finalize()
  if (rank == 0 .and. .not. all_right) error stop 'taskloop: wrong'

contains

  integer function argument(number, default)
    integer, intent(in) :: number, default
    character(len=32) :: text
    integer :: status
    argument = default
    if (command_argument_count() < number) return
    call get_command_argument(number, text)
    read (text, *, iostat=status) argument
    if (status /= 0 .or. argument < 1) error stop 'usage: taskloop [elements] [steps]'
  end function

  ! Small whole numbers, whose sums are exact in any order.
  elemental real function element(i, who, step)
    integer, intent(in) :: i, who, step
    element = real(mod(i, 1009) * (who + 1) + step)
  end function

  subroutine fill(x, who, step)
    real, intent(out) :: x(:)
    integer, intent(in) :: who, step
    integer :: i
    do i = 1, size(x)
      x(i) = element(i, who, step)
    end do
  end subroutine

  logical function is_sum(x, ranks, step)
    real, intent(in) :: x(:)
    integer, intent(in) :: ranks, step
    real :: sum
    integer :: i, who
    is_sum = .true.
    do i = 1, size(x)
      sum = 0
      do who = 0, ranks - 1
        sum = sum + element(i, who, step)
      end do
      is_sum = is_sum .and. x(i) == sum
    end do
  end function

  ! Represents the other work of a program: some arithmetic on one cell.
  subroutine relax(value, cell)
    double precision, intent(inout) :: value
    integer, intent(in) :: cell
    integer :: sweep
    do sweep = 1, sweeps
      value = 0.5d0 * value + 1d0 / dble(cell + sweep)
    end do
  end subroutine
end program
