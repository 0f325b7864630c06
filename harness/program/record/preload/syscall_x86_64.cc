// Replacements of syscall and vfork in recorded programs. They are in assembly, because both functions may return twice
// (ending.cc, exec.cc).

// syscall calls the C library's syscall, except for the numbers of exit_group (231), exit (60), ioctl (16), execve
// (59), execveat (322), munmap (11), madvise (28), mmap (9), brk (12) and mremap (25).
asm(R"(
  .pushsection .text
  .globl syscall
  .type syscall, @function
syscall:
  .cfi_startproc
  endbr64
  cmpq $231, %rdi
  je zerotax_watched_syscall
  cmpq $60, %rdi
  je zerotax_watched_syscall
  cmpq $16, %rdi
  je zerotax_watched_syscall
  cmpq $59, %rdi
  je zerotax_watched_syscall
  cmpq $322, %rdi
  je zerotax_watched_syscall
  cmpq $11, %rdi
  je zerotax_watched_syscall
  cmpq $28, %rdi
  je zerotax_watched_syscall
  cmpq $9, %rdi
  je zerotax_watched_syscall
  cmpq $12, %rdi
  je zerotax_watched_syscall
  cmpq $25, %rdi
  je zerotax_watched_syscall
  jmp *zerotax_real_syscall(%rip)
  .cfi_endproc
  .size syscall, .-syscall

  .globl vfork
  .type vfork, @function
vfork:
  .cfi_startproc
  endbr64
  movq (%rsp), %rdi
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  callq zerotax_begin_vfork
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  testq %rdx, %rdx
  jne 1f
  jmp *%rax
1:
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  .cfi_undefined %rip
  callq *%rax
  movslq %eax, %rdi
  callq zerotax_end_vfork
  pushq %rdx
  ret
  .cfi_endproc
  .size vfork, .-vfork
  .popsection
)");
