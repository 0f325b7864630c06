// The functions of the dynamic linker that recorded programs call (loader.cc). Each function jumps to the linker's, so
// that the linker sees the program as the caller. RTLD_NEXT is -1, RTLD_DEFAULT and LM_ID_BASE are 0, RTLD_DEEPBIND is
// 8.

asm(R"(
  .pushsection .text

# Calls the function in %rax, and keeps the arguments of the calling function.
keeping_arguments:
  .cfi_startproc
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  pushq %rcx
  .cfi_adjust_cfa_offset 8
  callq *%rax
  popq %rcx
  .cfi_adjust_cfa_offset -8
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  retq
  .cfi_endproc

  .macro ask_loader_for function
  cmpq $0, zerotax_real_\function(%rip)
  jne 1f
  leaq zerotax_find_loader(%rip), %rax
  callq keeping_arguments
1:
  .endm

  .macro begin_function name
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  endbr64
  .endm

  .macro end_function name
  jmp *zerotax_real_\name(%rip)
  .cfi_endproc
  .size \name, .-\name
  .endm

begin_function dlsym
  ask_loader_for dlsym
  leaq 1(%rdi), %rax
  cmpq $1, %rax
  ja zerotax_watched_dlsym
end_function dlsym

begin_function dlvsym
  ask_loader_for dlvsym
  leaq 1(%rdi), %rax
  cmpq $1, %rax
  ja zerotax_watched_dlvsym
end_function dlvsym

begin_function dlopen
  ask_loader_for dlopen
  testl $8, %esi
  jz 2f
  leaq zerotax_note_own_scope(%rip), %rax
  callq keeping_arguments
2:
end_function dlopen

begin_function dlmopen
  ask_loader_for dlmopen
  testq %rdi, %rdi
  jz 2f
  leaq zerotax_note_own_scope(%rip), %rax
  callq keeping_arguments
2:
end_function dlmopen

# The request is UFFDIO_COPY of linux/userfaultfd.h.
begin_function ioctl
  cmpl $0xc028aa03, %esi
  je zerotax_watched_ioctl
end_function ioctl

  .popsection
)");
