// Calls a function on another stack. The frame pointer leads back to the program's stack.
#include <cstddef>

#include "record/preload/own_stack.h"

static_assert(zerotax::kKeptRegisters[0] == 19 && zerotax::kKeptRegisters[9] == 28 &&
              zerotax::kKeptRegisters[10] == zerotax::kFramePointer);
static_assert(offsetof(zerotax::record::EntryRegisters, stack_pointer) == 88 &&
              offsetof(zerotax::record::EntryRegisters, return_address) == 96);

asm(R"(
  .pushsection .text
  .globl zerotax_call_on_stack
  .hidden zerotax_call_on_stack
  .type zerotax_call_on_stack, %function
zerotax_call_on_stack:
  .cfi_startproc
  hint #34
  stp x19, x20, [x2]
  stp x21, x22, [x2, #16]
  stp x23, x24, [x2, #32]
  stp x25, x26, [x2, #48]
  stp x27, x28, [x2, #64]
  mov x9, sp
  stp x29, x9, [x2, #80]
  str x30, [x2, #96]
  stp x29, x30, [sp, #-16]!
  .cfi_def_cfa_offset 16
  .cfi_offset x29, -16
  .cfi_offset x30, -8
  mov x29, sp
  .cfi_def_cfa_register x29
  mov sp, x2
  mov x9, x0
  mov x0, x1
  blr x9
  mov sp, x29
  .cfi_def_cfa_register sp
  ldp x29, x30, [sp], #16
  .cfi_restore x29
  .cfi_restore x30
  .cfi_def_cfa_offset 0
  ret
  .cfi_endproc
  .size zerotax_call_on_stack, .-zerotax_call_on_stack
  .popsection
)");
