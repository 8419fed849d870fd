// SPDX-License-Identifier: BSD-3-Clause
// These are the entry points of every intercepted call: MPI_X, MPI_X's other names, and PMPI_X.
// Each is one jump through a slot of its own, whatever its arguments are: a tool may stand behind
// MPI_X, and what the tool passes on comes to PMPI_X. A slot starts at its lazy entry, which has
// resolve.c decide where the call goes, with the arguments as they came.

#if defined(__x86_64__)
#include "interpose/stub/trampoline_x86_64.h"
#elif defined(__aarch64__)
#include "interpose/stub/trampoline_aarch64.h"
#else
#error "Sumac's entry points exist for x86-64 and aarch64: write a trampoline_<machine>.h"
#endif

  .hidden stub_slots
  .hidden stub_lazy_entries
  .hidden stub_resolve

  .data
  .balign 64
  .globl stub_slots
  .type stub_slots, %object
stub_slots:
  .section .data.rel.ro, "aw"
  .balign 8
  .globl stub_lazy_entries
  .type stub_lazy_entries, %object
stub_lazy_entries:

  .text
  .set slot, 0

  .macro entry_point name
  .globl \name
  .type \name, %function
  .balign 16
\name:
  .cfi_startproc
  jump_through_slot slot
  .cfi_endproc
  .size \name, . - \name

  .type stub_lazy_\name, %function
stub_lazy_\name:
  .cfi_startproc
  lazy_entry slot
  .cfi_endproc
  .size stub_lazy_\name, . - stub_lazy_\name

  .data
  .8byte stub_lazy_\name
  .section .data.rel.ro, "aw"
  .8byte stub_lazy_\name
  .text
  .set slot, slot + 1
  .endm

  .macro same_entry_point name, as
  .globl \name
  .type \name, %function
  .set \name, \as
  .endm

// The entry points are in the order of internal.h: the names that tools redefine, then those by
// which they pass on.
#define SUMAC_CALL(name) entry_point MPI_##name
#define SUMAC_OTHER_NAME(other, name) entry_point other
#include "interpose/calls.def"
#undef SUMAC_CALL
#define SUMAC_CALL(name) entry_point PMPI_##name
#define SUMAC_OTHER_NAME(other, name) same_entry_point P##other, PMPI_##name
#include "interpose/calls.def"

  .data
  .size stub_slots, . - stub_slots
  .section .data.rel.ro, "aw"
  .size stub_lazy_entries, . - stub_lazy_entries
  .text

  .type stub_lazy_common, %function
stub_lazy_common:
  lazy_common
  .size stub_lazy_common, . - stub_lazy_common

  .section .note.GNU-stack, "", %progbits
