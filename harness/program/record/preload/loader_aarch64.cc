// The functions of the dynamic linker that recorded programs call (loader.cc). Each function jumps to the linker's, so
// that the linker sees the program as the caller. RTLD_NEXT is -1, RTLD_DEFAULT and LM_ID_BASE are 0, RTLD_DEEPBIND is
// 8.

asm(R"(
  .pushsection .text

// Calls the function in x16. Keeps the arguments of the calling function, and its return address in x17.
keeping_arguments:
  .cfi_startproc
  stp x29, x30, [sp, -48]!
  .cfi_adjust_cfa_offset 48
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  stp x0, x1, [sp, 16]
  stp x2, x17, [sp, 32]
  blr x16
  ldp x2, x17, [sp, 32]
  ldp x0, x1, [sp, 16]
  ldp x29, x30, [sp], 48
  .cfi_adjust_cfa_offset -48
  ret
  .cfi_endproc

  .macro call_keeping function
  mov x17, x30
  adrp x16, \function
  add x16, x16, :lo12:\function
  bl keeping_arguments
  mov x30, x17
  .endm

  .macro ask_loader_for function
  adrp x16, zerotax_real_\function
  ldr x16, [x16, :lo12:zerotax_real_\function]
  cbnz x16, 1f
  call_keeping zerotax_find_loader
1:
  .endm

  .macro begin_function name
  .globl \name
  .type \name, %function
\name:
  .cfi_startproc
  hint 34
  .endm

  .macro end_function name
  adrp x16, zerotax_real_\name
  ldr x16, [x16, :lo12:zerotax_real_\name]
  br x16
  .cfi_endproc
  .size \name, .-\name
  .endm

begin_function dlsym
  ask_loader_for dlsym
  add x16, x0, 1
  cmp x16, 1
  b.hi zerotax_watched_dlsym
end_function dlsym

begin_function dlvsym
  ask_loader_for dlvsym
  add x16, x0, 1
  cmp x16, 1
  b.hi zerotax_watched_dlvsym
end_function dlvsym

begin_function dlopen
  ask_loader_for dlopen
  tbz w1, 3, 2f
  call_keeping zerotax_note_own_scope
2:
end_function dlopen

begin_function dlmopen
  ask_loader_for dlmopen
  cbz x0, 2f
  call_keeping zerotax_note_own_scope
2:
end_function dlmopen

// The request is UFFDIO_COPY of linux/userfaultfd.h.
begin_function ioctl
  movz w16, 0xaa03
  movk w16, 0xc028, lsl 16
  cmp w1, w16
  b.eq zerotax_watched_ioctl
end_function ioctl

  .popsection
)");
