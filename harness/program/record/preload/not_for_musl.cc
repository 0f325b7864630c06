// Keeps the recorder out of musl's programs. musl's calloc trusts fresh memory only if malloc is musl's own. With the
// recorder's malloc, musl's calloc reads every page of every block (calloc.c, __malloc_replaced), which takes 240 times
// the CPU time of the program alone. Musl's loader silently leaves out a library that, like another C library, has both
// __libc_start_main and stdin (ldso/dynlink.c, load_library). Therefore this library defines both symbols, and both
// work. No program requests this version of the symbols from glibc.
#include "record/preload/modules.h"

extern "C" {
extern char _IO_2_1_stdin_;  // NOLINT(bugprone-reserved-identifier)

[[gnu::visibility("default")]] void* zerotax_stdin = &_IO_2_1_stdin_;

[[gnu::visibility("default")]] int zerotax_start_main(void* program, int count, char** words, void* begin, void* end,
                                                      void* loader_end, void* stack_end) {
  using Start = int (*)(void*, int, char**, void*, void*, void*, void*);
  const auto start = reinterpret_cast<Start>(zerotax::record::find_next("__libc_start_main"));
  return start(program, count, words, begin, end, loader_end, stack_end);
}
}

asm(".symver zerotax_stdin, stdin@@@ZEROTAX_NOT_FOR_MUSL");
asm(".symver zerotax_start_main, __libc_start_main@@@ZEROTAX_NOT_FOR_MUSL");
