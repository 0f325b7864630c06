// Tests of MADV_POPULATE_READ, MADV_POPULATE_WRITE, MADV_WIPEONFORK and MADV_KEEPONFORK.
#define _GNU_SOURCE
#include <sys/mman.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"

static void populated(int advice, const char* name, const char* what) {
  unsigned char* p = map_pages(64);
  fill(p + 16 * page, 16 * page, kPattern);
  supported(k_madvise(p, 64 * page, advice) == 0, name);
  expect(p, 16 * page, 0, what);
  expect(p + 32 * page, 32 * page, 0, what);
  expect(p + 16 * page, 16 * page, kPattern, "in pages that were populated already");
}

static void by_reading(void) {
  populated(kPopulateRead, "madvise(MADV_POPULATE_READ)", "in pages that MADV_POPULATE_READ brought in");
}

static void by_writing(void) {
  populated(kPopulateWrite, "madvise(MADV_POPULATE_WRITE)", "in pages that MADV_POPULATE_WRITE brought in");
}

static void child_is_wiped(void* data) { expect(data, 8 * page, 0, "in the child, after MADV_WIPEONFORK"); }

static void wiped(void) {
  unsigned char* p = written_pages(8);
  supported(k_madvise(p, 8 * page, kWipeOnFork) == 0, "madvise(MADV_WIPEONFORK)");
  in_child(child_is_wiped, NULL, p);
  expect(p, 8 * page, kPattern, "in the parent, after MADV_WIPEONFORK and a fork");
}

static void child_is_not_wiped(void* data) { expect(data, 8 * page, kPattern, "in the child, after MADV_KEEPONFORK"); }

static void kept_again(void) {
  unsigned char* p = written_pages(8);
  supported(k_madvise(p, 8 * page, kWipeOnFork) == 0, "madvise(MADV_WIPEONFORK)");
  supported(k_madvise(p, 8 * page, kKeepOnFork) == 0, "madvise(MADV_KEEPONFORK)");
  in_child(child_is_not_wiped, NULL, p);
}

const struct promise kPopulatePromises[] = {
    {"populate-read", "MADV_POPULATE_READ brings in zeros, and changes no content.",
     "programs that bring in memory before they read it", by_reading},
    {"populate-write", "MADV_POPULATE_WRITE brings in zeros, and changes no content.",
     "zerotax: recorder/src/ring.cc, populate; QEMU: qemu_prealloc_mem; Java: AlwaysPreTouch (JDK-8315923)",
     by_writing},
    {"wipe-on-fork", "Memory with MADV_WIPEONFORK is zero in a child, and as it was in the parent.",
     "largecache: pagemap.cc, the descriptor and fork_generation; zerotax: harness/program/record/preload/process.cc; "
     "BoringSSL: CRYPTO_get_fork_generation; Android's libc: arc4random",
     wiped},
    {"keep-on-fork", "MADV_KEEPONFORK takes MADV_WIPEONFORK back.", "programs that reuse such memory", kept_again},
    {0, 0, 0, 0}};
