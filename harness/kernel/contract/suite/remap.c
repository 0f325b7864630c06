// Tests of mremap.
#define _GNU_SOURCE
#include <sys/mman.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"

static unsigned char* resize(unsigned char* p, size_t from, size_t to, int flags) {
  void* now_at = k_mremap(p, from * page, to * page, flags, NULL);
  supported(now_at != MAP_FAILED, "mremap");
  return now_at;
}

// Lengthens two mappings: one in place, and one that must move because another mapping follows it.
static void grown(void) {
  unsigned char* p = map_pages(64);
  need(k_munmap(p + 8 * page, 56 * page) == 0, "munmap");
  fill(p, 8 * page, kPattern);
  p = resize(p, 8, 32, MREMAP_MAYMOVE);
  expect(p + 8 * page, 24 * page, 0, "in the part by which a mapping grew");
  begin_program();
  unsigned char* full = written_pages(64);
  need(k_munmap(full + 9 * page, page) == 0, "munmap");
  unsigned char* moved = resize(full, 8, 64, MREMAP_MAYMOVE);
  expect(moved + 8 * page, 56 * page, 0, "in the part by which a mapping grew, elsewhere");
}

static void kept_bytes(void) {
  unsigned char* p = written_pages(64);
  unsigned char* moved = resize(p, 16, 96, MREMAP_MAYMOVE);
  expect(moved, 16 * page, kPattern, "in a mapping that was moved");
  expect(p + 16 * page, 48 * page, kPattern, "behind a mapping that was moved");
}

static void regrown(void) {
  unsigned char* p = written_pages(32);
  p = resize(p, 32, 8, 0);
  p = resize(p, 8, 32, MREMAP_MAYMOVE);
  expect(p, 8 * page, kPattern, "in the part of a mapping that stayed");
  expect(p + 8 * page, 24 * page, 0, "in the part of a mapping that was cut off and came back");
}

static void left_behind(void) {
  unsigned char* p = map_pages(16);
  unsigned char* target = map_pages(16);
  fill(p, 16 * page, kPattern);
  void* moved = k_mremap(p, 16 * page, 16 * page, MREMAP_MAYMOVE | MREMAP_FIXED | kRemapDontUnmap, target);
  supported(moved != MAP_FAILED, "mremap with MREMAP_DONTUNMAP");
  expect(moved, 16 * page, kPattern, "in pages that were moved");
  expect(p, 16 * page, 0, "where pages were moved away from");
}

const struct promise kMremapPromises[] = {
    {"mremap-grown", "The part by which mremap lengthens a mapping reads as zeros.",
     "largecache: pages.cc, lengthen_mapping and move_pages", grown},
    {"mremap-keeps", "mremap keeps the content that it moves, and what lies beside it.",
     "glibc: mremap_chunk; hardened_malloc: memory_remap_fixed; largecache: resize.cc, move_longer", kept_bytes},
    {"mremap-regrown", "A part of a mapping that mremap cut off and brought back reads as zeros.",
     "largecache: resize.cc, grow after shorten, which cuts off by munmap", regrown},
    {"mremap-dontunmap", "Where MREMAP_DONTUNMAP moved pages away from, the old mapping reads as zeros.",
     "Android's ART: mark_compact.cc, which moves pages under userfaultfd", left_behind},
    {0, 0, 0, 0}};
