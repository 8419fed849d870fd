// SPDX-License-Identifier: BSD-3-Clause
// The entry points MPI_X and PMPI_X of every intercepted call. Both are one jump through the call's
// slot, whatever its arguments are. A slot starts at the call's lazy entry, which has resolve.c
// fill the slots and then goes where the slot points, the arguments as they came.

#if defined(__x86_64__)
#include "interpose/stub/trampoline_x86_64.h"
#elif defined(__aarch64__)
#include "interpose/stub/trampoline_aarch64.h"
#else
#error "Sumac's entry points exist for x86-64 and aarch64: write a trampoline_<machine>.h"
#endif

  .hidden stub_slots
  .hidden stub_resolve

  .data
  .balign 64
  .globl stub_slots
  .type stub_slots, %object
stub_slots:

  .text
  .set call_index, 0

  .macro entry_points name
  .globl MPI_\name
  .globl PMPI_\name
  .type MPI_\name, %function
  .type PMPI_\name, %function
  .balign 16
MPI_\name:
PMPI_\name:
  .cfi_startproc
  jump_through_slot call_index
  .cfi_endproc
  .size MPI_\name, . - MPI_\name
  .size PMPI_\name, . - PMPI_\name

  .type stub_lazy_\name, %function
stub_lazy_\name:
  .cfi_startproc
  lazy_entry call_index
  .cfi_endproc
  .size stub_lazy_\name, . - stub_lazy_\name

  .data
  .8byte stub_lazy_\name
  .text
  .set call_index, call_index + 1
  .endm

  .macro other_name other, name
  .globl \other
  .globl P\other
  .type \other, %function
  .type P\other, %function
  .set \other, MPI_\name
  .set P\other, PMPI_\name
  .endm

#define SUMAC_CALL(name) entry_points name
#define SUMAC_OTHER_NAME(other, name) other_name other, name
#include "interpose/calls.def"

  .data
  .size stub_slots, . - stub_slots
  .text

  .type stub_lazy_common, %function
stub_lazy_common:
  lazy_common
  .size stub_lazy_common, . - stub_lazy_common

  .section .note.GNU-stack, "", %progbits
