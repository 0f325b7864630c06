// The function syscall of recorded programs, which zerotax_watched_syscall and zerotax_real_syscall are of (ending.cc).

// As in the C library, except for the numbers of exit_group (231), execve (59), execveat (322), munmap (11), madvise
// (28), mmap (9), brk (12) and mremap (25).
asm(R"(
  .pushsection .text
  .globl syscall
  .type syscall, @function
syscall:
  .cfi_startproc
  endbr64
  cmpq $231, %rdi
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
  .popsection
)");
