// Tests of mmap, munmap and mprotect.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"

enum { kUsable = PROT_READ | PROT_WRITE, kPrivate = MAP_PRIVATE | MAP_ANONYMOUS };

static void fresh(void) {
  const size_t sizes[] = {1, 16, 512, 8192};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    begin_program();
    expect(map_pages(sizes[i]), sizes[i] * page, 0, "in a fresh mapping");
  }
  kept("1, 16, 512 and 8,192 pages");
}

static void reused(void) {
  for (int round = 0; round < 64; ++round) {
    begin_program();
    unsigned char* p = map_pages(16);
    fill(p, 16 * page, kPattern);
    need(k_munmap(p, 16 * page) == 0, "munmap");
    unsigned char* again = k_mmap(p, 16 * page, kUsable, kPrivate, -1, 0);
    need(again != MAP_FAILED, "mmap");
    expect(again, 16 * page, 0, "where another mapping was before");
    k_munmap(again, 16 * page);
  }
  kept("%s", "");
}

static void fixed(void) {
  unsigned char* p = written_pages(16);
  void* middle = k_mmap(p + 4 * page, 8 * page, kUsable, kPrivate | MAP_FIXED, -1, 0);
  need(middle == p + 4 * page, "mmap with MAP_FIXED");
  expect(p + 4 * page, 8 * page, 0, "in a mapping over another");
  expect(p, 4 * page, kPattern, "in front of a mapping over another");
  expect(p + 12 * page, 4 * page, kPattern, "behind a mapping over another");
}

static void with_flag(int flag, const char* name, const char* what) {
  unsigned char* p = k_mmap(NULL, 64 * page, kUsable, kPrivate | flag, -1, 0);
  supported(p != MAP_FAILED, name);
  expect(p, 64 * page, 0, what);
  fill(p, 64 * page, kPattern);
  expect(p, 64 * page, kPattern, "after a write");
}

static void populated(void) { with_flag(MAP_POPULATE, "mmap with MAP_POPULATE", "in a populated mapping"); }
static void locked(void) { with_flag(MAP_LOCKED, "mmap with MAP_LOCKED", "in a locked mapping"); }
static void unreserved(void) { with_flag(MAP_NORESERVE, "mmap with MAP_NORESERVE", "in a mapping without reserve"); }

static void shared(void) {
  unsigned char* p = k_mmap(NULL, 64 * page, kUsable, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  supported(p != MAP_FAILED, "mmap with MAP_SHARED | MAP_ANONYMOUS");
  expect(p, 64 * page, 0, "in a fresh shared mapping");
}

static void zero_page(void) {
  unsigned char* p = map_pages(8);
  unsigned char* other = map_pages(8);
  touch_by_reading(p, 8 * page);
  touch_by_reading(other, 8 * page);
  set_byte(p + 3 * page, kPattern);
  expect(p + 3 * page + 1, page - 1, 0, "beside the first byte written to a page that had been read");
  expect(p, 3 * page, 0, "in pages that were read, after a write to another");
  expect(p + 4 * page, 4 * page, 0, "in pages that were read, after a write to another");
  expect(other, 8 * page, 0, "in another mapping that was read, after a write to the first");
}

static void droppable_child(void* data) {
  expect(data, 8 * page, 0, "in the child, which inherits nothing of droppable memory");
}

static void droppable(void) {
  unsigned char* p = k_mmap(NULL, 8 * page, kUsable, kMapDroppable | MAP_ANONYMOUS, -1, 0);
  supported(p != MAP_FAILED, "mmap with MAP_DROPPABLE");
  expect(p, 8 * page, 0, "in fresh droppable memory");
  fill(p, 8 * page, kPattern);
  expect_old_or_zero(p, 8 * page, kPattern, "in droppable memory, whose pages go as a whole");
  in_child(droppable_child, NULL, p);
}

static void reserved(void) {
  unsigned char* p = k_mmap(NULL, 64 * page, PROT_NONE, kPrivate | MAP_NORESERVE, -1, 0);
  need(p != MAP_FAILED, "mmap with PROT_NONE");
  supported(k_mprotect(p + 8 * page, 16 * page, kUsable) == 0, "mprotect");
  expect(p + 8 * page, 16 * page, 0, "in reserved memory that became writable");
}

static void protected(void) {
  unsigned char* p = written_pages(16);
  supported(k_mprotect(p, 16 * page, PROT_NONE) == 0, "mprotect");
  supported(k_mprotect(p, 16 * page, kUsable) == 0, "mprotect");
  expect(p, 16 * page, kPattern, "after PROT_NONE and back");
}

static void file_tail(void) {
  const int fd = k_memfd();
  supported(fd >= 0, "memfd_create");
  unsigned char* bytes = map_pages(1);
  fill(bytes, 100, kPattern);
  need(k_pwrite(fd, bytes, 100, 0) == 100, "pwrite");
  unsigned char* p = k_mmap(NULL, page, kUsable, MAP_PRIVATE, fd, 0);
  need(p != MAP_FAILED, "mmap of a file");
  expect(p, 100, kPattern, "in a file");
  expect(p + 100, page - 100, 0, "behind the end of a file, in its last page");
}

// Array in .bss. An array larger than a page begins in a page that also contains a part of the program's file.
static unsigned char never_written[3 * 65536 + 100];

static void bss(void) {
  name_memory(never_written, sizeof never_written);
  step("static unsigned char m0[%zu];", sizeof never_written);
  expect(never_written, sizeof never_written, 0, "in .bss");
}
unsigned char* bss_of_contract(void) { return never_written; }

const struct promise kMapPromises[] = {
    {"mmap-fresh", "A fresh private anonymous mapping reads as zeros.",
     "glibc: __libc_calloc, chunk_is_mmapped; jemalloc: edata_zeroed_get; musl: calloc.c; Go: allocNeedsZero; "
     "largecache: pages.cc, map_pages",
     fresh},
    {"mmap-reused", "A mapping at the address of one that was unmapped reads as zeros.",
     "glibc: every mmapped chunk; largecache: policies/unmap.cc", reused},
    {"mmap-fixed", "A mapping over another one (MAP_FIXED) reads as zeros, and changes nothing beside it.",
     "jemalloc: os_pages_commit; hardened_malloc: memory_map_fixed; glibc: shrink_heap in secure mode; "
     ".NET: VirtualDecommit; largecache: pages.cc, map_pages_over",
     fixed},
    {"mmap-populate", "Pages that MAP_POPULATE brought in read as zeros.",
     "zerotax: harness/measuring/probe/run_point.cc, the sample block", populated},
    {"mmap-locked", "Pages that MAP_LOCKED brought in read as zeros.",
     "programs under mlockall(MCL_FUTURE): any calloc", locked},
    {"mmap-noreserve", "A mapping without reserved memory (MAP_NORESERVE) reads as zeros.",
     "glibc: new_heap; mimalloc: unix_mmap", unreserved},
    {"mmap-shared", "A fresh shared anonymous mapping reads as zeros.",
     "zerotax: harness/program/record/preload/block_table.h", shared},
    {"mmap-droppable", "Droppable memory reads as zeros at first, loses whole pages only, and a child gets none of it.",
     "glibc: getrandom.c, the state of the vDSO's getrandom (Linux 6.11); Go: vgetrandom_linux.go", droppable},
    {"mmap-reserved", "Memory that was reserved with PROT_NONE reads as zeros once it may be written.",
     "glibc: grow_heap of a thread's arena; mimalloc: mi_arena_try_alloc_at, blocks_dirty; hardened_malloc: pages.c",
     reserved},
    {"mprotect-keeps", "PROT_NONE and back leaves the content as it was.", "libsodium: sodium_mprotect_noaccess",
     protected},
    {"mmap-file-tail", "Behind the end of a file, the last page of its mapping reads as zeros.",
     "LLVM: MemoryBuffer.cpp, shouldUseMmap", file_tail},
    {"exec-bss", "What a program does not initialise (.bss) reads as zeros.",
     "jemalloc: arena_emap_global; every program with static data", bss},
    {"zero-page", "A write to a page that was only read changes no other page.",
     "largecache: pagemap.cc, pages that are the shared zero page are left alone", zero_page},
    {NULL, NULL, NULL, NULL}};
