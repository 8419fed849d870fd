// SPDX-License-Identifier: BSD-3-Clause
// clang-format off
// These are the assembler macros of trampolines.S for x86-64 (System V): arguments are in rdi rsi
// rdx rcx r8 r9 and on the stack above the return address. No intercepted call takes floating
// point.

  .macro jump_through_slot index
  endbr64
  jmp *stub_slots + 8 * \index(%rip)
  .endm

  .macro lazy_entry index
  endbr64
  pushq $\index
  .cfi_adjust_cfa_offset 8
  jmp stub_lazy_common
  .endm

  .macro save register
  pushq %\register
  .cfi_adjust_cfa_offset 8
  .endm

  .macro restore register
  popq %\register
  .cfi_adjust_cfa_offset -8
  .endm

// It is entered with the call's index pushed over the return address: the stack is then aligned to
// 16, and stays so with an even number of registers saved.
  .macro lazy_common
  .cfi_startproc
  .cfi_adjust_cfa_offset 8
  save rax
  save r10
  save rdi
  save rsi
  save rdx
  save rcx
  save r8
  save r9
  movl 64(%rsp), %edi     // the index
  movq 72(%rsp), %rsi     // the return address
  call stub_resolve
  movq %rax, %r11
  restore r9
  restore r8
  restore rcx
  restore rdx
  restore rsi
  restore rdi
  restore r10
  restore rax
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  jmp *%r11
  .cfi_endproc
  .endm
