! SPDX-License-Identifier: BSD-3-Clause
! All collectives by `use mpi`.
program collectives_use_mpi
  use mpi
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
#include "took.inc"
  integer :: request, whole, types(16)
#include "collectives.inc"
contains
#include "collectives_folds.inc"
#include "collectives_exchanges.inc"
end program
