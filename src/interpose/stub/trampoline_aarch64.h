// SPDX-License-Identifier: BSD-3-Clause
// clang-format off
// These are the assembler macros of trampolines.S for aarch64: arguments are in x0-x7 and on the
// stack, x8 is for results in memory, x30 has the return address; x16 and x17 are free between
// caller and callee. No intercepted call takes floating point. "hint #34" is bti c, a landing pad
// where the processor asks for one.

  .macro jump_through_slot index
  hint #34
  adrp x16, stub_slots + 8 * \index
  ldr x16, [x16, #:lo12:stub_slots + 8 * \index]
  br x16
  .endm

  .macro lazy_entry index
  hint #34
  mov w17, #\index
  b stub_lazy_common
  .endm

// It is entered with the call's index in w17.
  .macro lazy_common
  .cfi_startproc
  stp x29, x30, [sp, #-96]!
  .cfi_def_cfa_offset 96
  .cfi_offset x29, -96
  .cfi_offset x30, -88
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  mov w0, w17
  mov x1, x30
  bl stub_resolve
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp x29, x30, [sp], #96
  .cfi_restore x29
  .cfi_restore x30
  .cfi_def_cfa_offset 0
  br x16
  .cfi_endproc
  .endm
