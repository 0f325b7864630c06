// Allocates below functions whose call frame information or frame pointer is wrong. The wrong data leads to an address
// that is unmapped, unreadable, the kernel's, beyond the end of a file, or in the same frame.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void (*Function)(void);
void by_register(uintptr_t, Function);
void by_frame_pointer(uintptr_t, Function);
void by_word(uintptr_t, Function);
void by_saved_register(uintptr_t, Function);
void by_unknown_rule(uintptr_t, Function);

#define BEGIN(name) \
  ".globl " name "\n.type " name ", @function\n" name ":\n.cfi_startproc\npush %rbx\npush %rbp\npush %r12\n"
#define CALL "call *%rsi\n.cfi_def_cfa %rsp, 32\n"
#define END "pop %r12\npop %rbp\npop %rbx\n.cfi_def_cfa %rsp, 8\nret\n.cfi_endproc\n"

asm(".text\n"  //
    BEGIN("by_register") "mov %rdi, %rbx\n.cfi_def_cfa %rbx, 16\n" CALL END BEGIN(
        "by_frame_pointer") "mov %rdi, %rbp\n.cfi_def_cfa %rbp, 16\n" CALL END
        // DW_CFA_def_cfa_expression: the word at rbx + 0
        BEGIN("by_word") "mov %rdi, %rbx\n.cfi_escape 0x0f, 3, 0x73, 0, 0x06\n" CALL END
            // DW_CFA_expression: the return address is at the address in rbx
            BEGIN("by_saved_register") "mov %rdi, %rbx\n.cfi_def_cfa %rsp, 32\n.cfi_escape 0x10, 16, 2, 0x73, 0\n" CALL
                END BEGIN("by_unknown_rule") "mov %rdi, %rbx\n.cfi_escape 0x0f, 3, 0x73, 0, 0xe0\n" CALL END);

static void allocate(void) {
  for (int i = 0; i < 3; i++) {
    char* volatile block = malloc(200000);
    memset(block, 0, 200000);
    free(block);
    free(calloc(1, 300000));
  }
}

int main(void) {
  char* pages = mmap(0, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char name[] = "/tmp/unharmedXXXXXX";
  int file = mkstemp(name);
  unlink(name);
  if (file < 0 || ftruncate(file, 100)) return 3;
  char* behind = mmap(0, 16384, PROT_READ, MAP_SHARED, file, 0);
  // push %rbp; mov %rdi, %rbp; call *%rsi; pop %rbp; ret. This code has no call frame information.
  static const unsigned char kCode[] = {0x55, 0x48, 0x89, 0xfd, 0xff, 0xd6, 0x5d, 0xc3};
  void* made = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || behind == MAP_FAILED || made == MAP_FAILED) return 3;
  memcpy(made, kCode, sizeof kCode);
  void (*by_made_code)(uintptr_t, Function) = (void (*)(uintptr_t, Function))made;
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  const uintptr_t places[] = {0,
                              8,
                              here,
                              here - 4096,
                              here + 8,
                              here + 3,
                              (uintptr_t)pages,
                              (uintptr_t)behind + 8192,
                              1ul << 46,
                              0xffffffffff600000,
                              0xffff800000000000,
                              UINTPTR_MAX - 7};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    by_register(places[i], allocate);
    by_frame_pointer(places[i], allocate);
    by_word(places[i], allocate);
    by_saved_register(places[i], allocate);
    by_unknown_rule(places[i], allocate);
    by_made_code(places[i], allocate);
  }
  puts("done");
}
