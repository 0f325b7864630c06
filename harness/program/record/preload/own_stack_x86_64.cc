// Calls a function on another stack. The frame pointer leads back to the program's stack.
#include <cstddef>

#include "record/preload/own_stack.h"

static_assert(zerotax::kKeptRegisters[0] == 3 && zerotax::kKeptRegisters[1] == zerotax::kFramePointer &&
              zerotax::kKeptRegisters[2] == 12 && zerotax::kKeptRegisters[5] == 15);
static_assert(offsetof(zerotax::record::EntryRegisters, stack_pointer) == 48 &&
              offsetof(zerotax::record::EntryRegisters, return_address) == 56);

asm(R"(
  .pushsection .text
  .globl zerotax_call_on_stack
  .hidden zerotax_call_on_stack
  .type zerotax_call_on_stack, @function
zerotax_call_on_stack:
  .cfi_startproc
  endbr64
  movq %rbx, (%rdx)
  movq %rbp, 8(%rdx)
  movq %r12, 16(%rdx)
  movq %r13, 24(%rdx)
  movq %r14, 32(%rdx)
  movq %r15, 40(%rdx)
  leaq 8(%rsp), %rax
  movq %rax, 48(%rdx)
  movq (%rsp), %rax
  movq %rax, 56(%rdx)
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %rdx, %rsp
  movq %rdi, %rax
  movq %rsi, %rdi
  callq *%rax
  movq %rbp, %rsp
  popq %rbp
  .cfi_def_cfa %rsp, 8
  retq
  .cfi_endproc
  .size zerotax_call_on_stack, .-zerotax_call_on_stack
  .popsection
)");
