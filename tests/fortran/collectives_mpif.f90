! SPDX-License-Identifier: BSD-3-Clause
! All collectives by mpif.h.
program collectives_mpif
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  include 'mpif.h'
#include "took.inc"
  integer :: request, whole, types(16)
#include "collectives.inc"
contains
#include "collectives_folds.inc"
#include "collectives_exchanges.inc"
end program
