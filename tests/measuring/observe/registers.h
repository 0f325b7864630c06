#pragma once

#include "os/processor.h"

/// Reads those registers of the calling function that unwinding needs: the stack pointer, the program counter and the
/// registers that functions preserve.
#if defined(__x86_64__)
#define ZEROTAX_READ_REGISTERS(to)                                                                   \
  asm volatile("mov %%rsp, %0\n lea 0(%%rip), %%rax\n mov %%rax, %1\n mov %%rbp, %2\n mov %%rbx, %3" \
               : "=m"((to)[7]), "=m"((to)[16]), "=m"((to)[6]), "=m"((to)[3])                         \
               :                                                                                     \
               : "rax");                                                                             \
  asm volatile("mov %%r12, %0\n mov %%r13, %1\n mov %%r14, %2\n mov %%r15, %3"                       \
               : "=m"((to)[12]), "=m"((to)[13]), "=m"((to)[14]), "=m"((to)[15]))
#else
#define ZEROTAX_READ_REGISTERS(to)                                                       \
  asm volatile(                                                                          \
      "stp x19, x20, [%0, #152]\n stp x21, x22, [%0, #168]\n stp x23, x24, [%0, #184]\n" \
      "stp x25, x26, [%0, #200]\n stp x27, x28, [%0, #216]\n stp x29, x30, [%0, #232]\n" \
      "mov x9, sp\n str x9, [%0, #248]\n adr x9, .\n str x9, [%0, #256]"                 \
      :                                                                                  \
      : "r"((to).data())                                                                 \
      : "x9", "memory")
#endif
