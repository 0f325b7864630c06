// The functions syscall and vfork of recorded programs, which may return twice (ending.cc, exec.cc).

// syscall calls the C library's syscall, except for the numbers of exit_group (94), exit (93), ioctl (29), execve
// (221), execveat (281), munmap (215), madvise (233), mmap (222), brk (214) and mremap (216). hint 34 is bti c.
asm(R"(
  .pushsection .text
  .globl syscall
  .type syscall, %function
syscall:
  .cfi_startproc
  hint 34
  cmp x0, 94
  b.eq zerotax_watched_syscall
  cmp x0, 93
  b.eq zerotax_watched_syscall
  cmp x0, 29
  b.eq zerotax_watched_syscall
  cmp x0, 221
  b.eq zerotax_watched_syscall
  cmp x0, 281
  b.eq zerotax_watched_syscall
  cmp x0, 215
  b.eq zerotax_watched_syscall
  cmp x0, 233
  b.eq zerotax_watched_syscall
  cmp x0, 222
  b.eq zerotax_watched_syscall
  cmp x0, 214
  b.eq zerotax_watched_syscall
  cmp x0, 216
  b.eq zerotax_watched_syscall
  adrp x16, zerotax_real_syscall
  ldr x16, [x16, :lo12:zerotax_real_syscall]
  br x16
  .cfi_endproc
  .size syscall, .-syscall

  .globl vfork
  .type vfork, %function
vfork:
  .cfi_startproc
  hint 34
  stp x29, x30, [sp, #-16]!
  .cfi_adjust_cfa_offset 16
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  mov x0, x30
  bl zerotax_begin_vfork
  mov x16, x0
  ldp x29, x30, [sp], #16
  .cfi_adjust_cfa_offset -16
  .cfi_restore x29
  .cfi_restore x30
  cbnz x1, 1f
  br x16
1:
  .cfi_undefined x30
  blr x16
  sxtw x0, w0
  bl zerotax_end_vfork
  ret x1
  .cfi_endproc
  .size vfork, .-vfork
  .popsection
)");
