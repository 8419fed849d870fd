! SPDX-License-Identifier: BSD-3-Clause
! Conjugate gradients, with the order of additions of plain.c and field.c, so that the results are
! the same but for the compilers' own choices.
module solver
  use box
  implicit none
  real(real64) :: collective_seconds = 0

contains

  ! The dot product over this rank's cells. Each column has a sum of its own, so that the compiler
  ! can use vectors without changing the order of any.
  pure real(real64) function dot_here(g, a, b)
    type(grid), intent(in) :: g
    real(real64), intent(in) :: a(0:, 0:, 0:), b(0:, 0:, 0:)
    real(real64) :: columns(g%n)
    integer :: x, y, z
    columns = 0
    do z = 1, g%n
      do y = 1, g%n
        columns = columns + a(1:g%n, y, z) * b(1:g%n, y, z)
      end do
    end do
    dot_here = 0
    do x = 1, g%n
      dot_here = dot_here + columns(x)
    end do
  end function

  real(real64) function dot(g, a, b)
    type(grid), intent(in) :: g
    real(real64), intent(in) :: a(0:, 0:, 0:), b(0:, 0:, 0:)
    real(real64) :: mine, start
    mine = dot_here(g, a, b)
    start = MPI_Wtime()
    call MPI_Allreduce(mine, dot, 1, MPI_DOUBLE_PRECISION, MPI_SUM, g%comm)
    collective_seconds = collective_seconds + MPI_Wtime() - start
  end function

  ! out = A in: six times the cell minus its six neighbours. Fills the ghosts of `in`.
  subroutine laplacian(g, in, out)
    type(grid), intent(in) :: g
    real(real64), intent(inout), contiguous :: in(0:, 0:, 0:)
    real(real64), intent(inout) :: out(0:, 0:, 0:)
    integer :: x, y, z
    call exchange(g, in)
    do z = 1, g%n
      do y = 1, g%n
        do x = 1, g%n
          out(x, y, z) = 6 * in(x, y, z) - in(x - 1, y, z) - in(x + 1, y, z) - in(x, y - 1, z) &
                         - in(x, y + 1, z) - in(x, y, z - 1) - in(x, y, z + 1)
        end do
      end do
    end do
  end subroutine

  ! Solves A x = b until |r| <= tolerance |b|; the number of iterations, or -1 if the limit was too
  ! low.
  integer function solve(g, b, x, tolerance, limit)
    type(grid), intent(in) :: g
    real(real64), intent(in) :: b(0:, 0:, 0:), tolerance
    real(real64), intent(inout), contiguous :: x(0:, 0:, 0:)
    integer, intent(in) :: limit
    real(real64), allocatable, dimension(:, :, :) :: r, p, s
    real(real64) :: square, next, step, goal
    integer :: n
    n = g%n
    allocate (r, p, s, mold=b)
    x = 0
    r = b
    p = b
    s = 0
    square = dot(g, r, r)
    goal = tolerance * sqrt(square)
    do solve = 1, limit
      call laplacian(g, p, s)
      step = square / dot(g, p, s)
      x(1:n, 1:n, 1:n) = x(1:n, 1:n, 1:n) + step * p(1:n, 1:n, 1:n)
      r(1:n, 1:n, 1:n) = r(1:n, 1:n, 1:n) - step * s(1:n, 1:n, 1:n)
      next = dot(g, r, r)
      if (sqrt(next) <= goal) return
      p(1:n, 1:n, 1:n) = next / square * p(1:n, 1:n, 1:n) + r(1:n, 1:n, 1:n)
      square = next
    end do
    solve = -1
  end function

  ! |b - A x| / |b|, computed anew.
  real(real64) function true_residual(g, b, x)
    type(grid), intent(in) :: g
    real(real64), intent(in) :: b(0:, 0:, 0:)
    real(real64), intent(inout), contiguous :: x(0:, 0:, 0:)
    real(real64), allocatable :: r(:, :, :)
    real(real64) :: mine(2), sums(2)
    allocate (r, mold=b)
    r = 0
    call laplacian(g, x, r)
    r(1:g%n, 1:g%n, 1:g%n) = b(1:g%n, 1:g%n, 1:g%n) - r(1:g%n, 1:g%n, 1:g%n)
    mine = [dot_here(g, r, r), dot_here(g, b, b)]
    call MPI_Allreduce(mine, sums, 2, MPI_DOUBLE_PRECISION, MPI_SUM, g%comm)
    true_residual = sqrt(sums(1) / sums(2))
  end function
end module
