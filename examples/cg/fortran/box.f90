! SPDX-License-Identifier: BSD-3-Clause
! Boxes of cells. Faces are sent as they lie in memory, by datatypes; grid.c packs them.
module box
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none

  ! A box of cells, divided into equal boxes, one per rank. Fields have a layer of ghost cells.
  type grid
    type(MPI_Comm) :: comm
    integer :: rank, ranks
    integer :: n                              ! cells of a rank along each dimension
    integer :: boxes(3), place(3)             ! ranks along each dimension; this rank's box
    integer :: neighbours(2, 3)               ! towards 0 in each dimension, and away from it
    type(MPI_Datatype) :: faces(2, 3)         ! the cells at each face
    type(MPI_Datatype) :: ghosts(2, 3)        ! and the ghosts behind it
  end type

contains

  subroutine make_grid(g, n)
    type(grid), intent(out) :: g
    integer, intent(in) :: n
    integer :: d
    g%n = n
    call MPI_Comm_size(MPI_COMM_WORLD, g%ranks)
    g%boxes = 0
    call MPI_Dims_create(g%ranks, 3, g%boxes)
    call MPI_Cart_create(MPI_COMM_WORLD, 3, g%boxes, [.false., .false., .false.], .true., g%comm)
    call MPI_Comm_rank(g%comm, g%rank)
    call MPI_Cart_coords(g%comm, g%rank, 3, g%place)
    do d = 1, 3
      call MPI_Cart_shift(g%comm, d - 1, 1, g%neighbours(1, d), g%neighbours(2, d))
      call make_layer(n, d, 1, g%faces(1, d))
      call make_layer(n, d, n, g%faces(2, d))
      call make_layer(n, d, 0, g%ghosts(1, d))
      call make_layer(n, d, n + 1, g%ghosts(2, d))
    end do
  end subroutine

  ! One layer of a field across dimension d, without its edges.
  subroutine make_layer(n, d, depth, type)
    integer, intent(in) :: n, d, depth
    type(MPI_Datatype), intent(out) :: type
    integer :: lengths(3), starts(3)
    lengths = n
    starts = 1
    lengths(d) = 1
    starts(d) = depth
    call MPI_Type_create_subarray(3, [n + 2, n + 2, n + 2], lengths, starts, MPI_ORDER_FORTRAN, &
                                  MPI_DOUBLE_PRECISION, type)
    call MPI_Type_commit(type)
  end subroutine

  subroutine free_grid(g)
    type(grid), intent(inout) :: g
    integer :: d, side
    do d = 1, 3
      do side = 1, 2
        call MPI_Type_free(g%faces(side, d))
        call MPI_Type_free(g%ghosts(side, d))
      end do
    end do
    call MPI_Comm_free(g%comm)
  end subroutine

  ! Fills the ghosts of a field from the neighbours. Those outside of the whole box stay 0.
  subroutine exchange(g, field)
    type(grid), intent(in) :: g
    real(real64), intent(inout), asynchronous, contiguous :: field(0:, 0:, 0:)
    type(MPI_Request) :: requests(12)
    integer :: d, side
    do d = 1, 3
      do side = 1, 2
        call MPI_Irecv(field, 1, g%ghosts(side, d), g%neighbours(side, d), 2 * d + 2 - side, &
                       g%comm, requests(4 * d - 4 + side))
        call MPI_Isend(field, 1, g%faces(side, d), g%neighbours(side, d), 2 * d + side - 1, &
                       g%comm, requests(4 * d - 2 + side))
      end do
    end do
    call MPI_Waitall(12, requests, MPI_STATUSES_IGNORE)
  end subroutine

  ! Numbers in [-1, 1) that depend only on the seed and the cell's place in the whole box: the
  ! finaliser of splitmix64, whose products wrap.
  pure real(real64) function random_number_of(key)
    integer(int64), value :: key
    key = key - 7046029254386353131_int64
    key = ieor(key, shiftr(key, 30)) * (-4658895280553007687_int64)
    key = ieor(key, shiftr(key, 27)) * (-7723592293110705685_int64)
    random_number_of = real(shiftr(ieor(key, shiftr(key, 31)), 11), real64) * 2.0_real64**(-52) - 1
  end function

  subroutine random_right_hand_side(g, seed, b)
    type(grid), intent(in) :: g
    integer, intent(in) :: seed
    real(real64), intent(out) :: b(0:, 0:, 0:)
    integer(int64) :: width, height, cell
    integer :: x, y, z
    width = int(g%n, int64) * g%boxes(1)
    height = int(g%n, int64) * g%boxes(2)
    b = 0
    do z = 1, g%n
      do y = 1, g%n
        do x = 1, g%n
          cell = int(g%place(3), int64) * g%n + z - 1
          cell = (cell * height + int(g%place(2), int64) * g%n + y - 1) * width
          cell = cell + int(g%place(1), int64) * g%n + x - 1
          b(x, y, z) = random_number_of(cell + shiftl(int(seed, int64), 40))
        end do
      end do
    end do
  end subroutine
end module
