// Tests of brk. The steps are relative to the process's current break. The C library does not move the break during a
// test, because a test allocates nothing.
#include <sys/mman.h>

#include "contract/suite/suite.h"

static unsigned char* begin_of_growth(void) {
  unsigned char* end = k_brk(NULL);
  need(end != NULL && end != (unsigned char*)-1, "brk");
  // Starts at a page boundary, because the test covers whole pages only.
  const size_t odd = (uintptr_t)end % page;
  if (odd != 0) {
    end += page - odd;
    need(k_brk(end) == end, "brk");
  }
  return end;
}

static void move(unsigned char* to, const char* what) { need(k_brk(to) == to, what); }

static void fresh(void) {
  unsigned char* p = begin_of_growth();
  move(p + 256 * page, "growing the heap by brk");
  expect(p, 256 * page, 0, "in fresh memory of the heap");
}

static void regrown(void) {
  unsigned char* p = begin_of_growth();
  move(p + 64 * page, "growing the heap by brk");
  fill(p, 64 * page, kPattern);
  move(p + 16 * page, "shrinking the heap by brk");
  move(p + 64 * page, "growing the heap by brk");
  expect(p, 16 * page, kPattern, "in the part of the heap that stayed");
  expect(p + 16 * page, 48 * page, 0, "in memory of the heap that was given back and taken again");
}

const struct promise kBrkPromises[] = {
    {"brk-fresh", "Memory by which brk lengthens the heap reads as zeros.",
     "glibc: __libc_calloc, the top chunk (MORECORE_CLEARS)", fresh},
    {"brk-regrown", "Memory that brk gave back and took again reads as zeros, in whole pages.",
     "glibc: __libc_calloc after a trim (malloc.c is built with MORECORE_CLEARS=2 on Linux)", regrown},
    {0, 0, 0, 0}};
