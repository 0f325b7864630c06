// Tests of calls that fail for lack of memory. A call that fails must return an error, and change nothing.
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"

enum { kUsable = PROT_READ | PROT_WRITE };

static void limit(bool limited) { need(k_limit_address_space(limited) == 0, "setrlimit(RLIMIT_AS)"); }

static void map(void) {
  unsigned char* p = written_pages(8);
  limit(true);
  void* refused = k_mmap(NULL, 64 * page, kUsable, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  expect_error(refused == MAP_FAILED, ENOMEM, "ENOMEM", "mmap beyond RLIMIT_AS");
  expect(p, 8 * page, kPattern, "after an mmap that failed");
  limit(false);
  expect(map_pages(64), 64 * page, 0, "in a fresh mapping, after one that failed");
}

static void lengthen(void) {
  unsigned char* p = written_pages(8);
  limit(true);
  void* refused = k_mremap(p, 8 * page, 64 * page, MREMAP_MAYMOVE, NULL);
  expect_error(refused == MAP_FAILED, ENOMEM, "ENOMEM", "mremap beyond RLIMIT_AS");
  expect(p, 8 * page, kPattern, "after an mremap that failed");
  limit(false);
  unsigned char* longer = k_mremap(p, 8 * page, 64 * page, MREMAP_MAYMOVE, NULL);
  need(longer != MAP_FAILED, "mremap");
  expect(longer, 8 * page, kPattern, "in a mapping that grew at the second try");
  expect(longer + 8 * page, 56 * page, 0, "in the part by which a mapping grew at the second try");
}

static void heap(void) {
  unsigned char* end = k_brk(NULL);
  need(end != NULL && end != (unsigned char*)-1, "brk");
  limit(true);
  const unsigned char* now_at = k_brk(end + 4096 * page);
  expect_true(now_at == end, "r == (long)m0", "brk beyond RLIMIT_AS moved the break");
  const unsigned char* still = k_brk(NULL);
  expect_true(still == end, "m1 == m0", "brk beyond RLIMIT_AS moved the break");
  limit(false);
}

static void discard(void) {
  unsigned char* p = written_pages(16);
  limit(true);
  const bool done = k_madvise(p + 4 * page, 8 * page, MADV_DONTNEED) == 0;
  const int error = errno;
  limit(false);
  expect(p, 4 * page, kPattern, "in front of MADV_DONTNEED under a limit");
  if (!done) kept("the call failed with %s", error_name(error));
  expect(p + 4 * page, 8 * page, 0, "after MADV_DONTNEED under a limit");
}

// Removes access to every second page of a mapping. Each removal adds two mappings, up to /proc/sys/vm/max_map_count.
static void mappings(void) {
  const size_t pages = 300000;
  unsigned char* p = k_mmap(NULL, pages * page, kUsable, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  need(p != MAP_FAILED, "mmap");
  unsigned char* whole = p + (pages - 16) * page;
  fill(whole, 16 * page, kPattern);
  step("size_t i = 0;");
  step("while (i < %zu && mprotect(m0 + i * %zu, %zu, PROT_NONE) == 0) i += 2;", pages - 32, page, page);
  size_t i = 0;
  write_steps(false);
  while (i < pages - 32 && k_mprotect(p + i * page, page, PROT_NONE) == 0) i += 2;
  const int error = errno;
  write_steps(true);
  if (i >= pages - 32) not_testable("%zu mappings are allowed here", pages - 32);
  if (error != ENOMEM) broken("one mapping too many: mprotect failed with %s, not ENOMEM", error_name(error));
  const int result = k_munmap(whole + 4 * page, page);
  const int why = errno;
  if (result != 0) {
    expect(whole, 16 * page, kPattern, "after a munmap that failed");
    if (why != ENOMEM) broken("one mapping too many: munmap failed with %s, not ENOMEM", error_name(why));
  }
  need(k_madvise(whole, 2 * page, MADV_DONTNEED) == 0, "madvise(MADV_DONTNEED)");
  expect(whole, 2 * page, 0, "after MADV_DONTNEED, where no mapping more is allowed");
  expect(whole + 2 * page, 2 * page, kPattern, "behind MADV_DONTNEED, where no mapping more is allowed");
  kept("after %zu mappings", i);
}

// Maps four times the memory of this machine with PROT_NONE, which commits no memory. Then requests write access, which
// would commit all of the memory.
static void commit(void) {
  struct sysinfo machine;
  need(sysinfo(&machine) == 0, "sysinfo");
  const size_t bytes = 4 * (machine.totalram + machine.totalswap) * machine.mem_unit / page * page;
  unsigned char* p = k_mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  need(p != MAP_FAILED, "mmap of four times the memory, without access");
  need(k_mprotect(p, 8 * page, kUsable) == 0, "mprotect");
  fill(p, 8 * page, kPattern);
  const bool refused = k_mprotect(p, bytes, kUsable) != 0;
  if (!refused) not_testable("any amount of memory is committed here (vm.overcommit_memory is 1?)");
  expect_error(refused, ENOMEM, "ENOMEM", "mprotect of four times the memory");
  expect(p, 8 * page, kPattern, "after an mprotect that failed");
  k_munmap(p, bytes);
  expect(map_pages(8), 8 * page, 0, "in a fresh mapping, after an mprotect that failed");
}

enum { kCgroupMiB = 32, kKeptMiB = 4, kFreedMiB = 16, kFreshMiB = 20 };

static unsigned char* filled_mib(size_t mib, int byte) {
  unsigned char* p = map_pages((mib << 20) / page);
  fill(p, mib << 20, byte);
  return p;
}

static void fill_up(void* data) {
  const bool limited = *(const bool*)data && k_join_cgroup((size_t)kCgroupMiB << 20);
  unsigned char* old = filled_mib(kKeptMiB, kPattern);
  unsigned char* freed = filled_mib(kFreedMiB, kPattern);
  supported(k_madvise(freed, (size_t)kFreedMiB << 20, kFree) == 0, "madvise(MADV_FREE)");
  unsigned char* fresh = filled_mib(kFreshMiB, kOther);
  expect(old, (size_t)kKeptMiB << 20, kPattern, "in memory that nobody gave up, under the limit of a cgroup");
  expect(fresh, (size_t)kFreshMiB << 20, kOther, "in memory that was written under the limit of a cgroup");
  expect_old_or_zero(freed, (size_t)kFreedMiB << 20, kPattern, "after MADV_FREE, under the limit of a cgroup");
  step("_exit(0);");
  size_t gone = 0;
  for (size_t at = 0; at < (size_t)kFreedMiB << 20; at += page) gone += freed[at] == 0;
  if (!limited) not_testable("no cgroup with a limit of memory may be made here; the bytes were right");
  if (gone == 0) not_testable("the kernel reclaimed nothing of what was given up; the bytes were right");
  kept("%zu of %zu freed pages were reclaimed", gone, ((size_t)kFreedMiB << 20) / page);
}

// If the process exceeds the limit, the kernel first reclaims memory that the process gave up.
static void pressure(void) {
  bool limited = true;
  in_child(fill_up, NULL, &limited);
}

const struct promise kLimitPromises[] = {
    {"enomem-mmap", "mmap beyond RLIMIT_AS fails with ENOMEM, and changes nothing.",
     "every allocator; largecache: large.cc, map_fresh empties the cache and tries again", map},
    {"enomem-mremap", "mremap beyond RLIMIT_AS fails with ENOMEM, and changes nothing.",
     "glibc: mremap_chunk; largecache: resize.cc", lengthen},
    {"enomem-brk", "brk beyond RLIMIT_AS leaves the break where it was.", "glibc: sysmalloc, which turns to mmap",
     heap},
    {"enomem-dontneed", "MADV_DONTNEED under RLIMIT_AS discards, or fails and says so.",
     "hardened_malloc: memory_purge; largecache: pages.cc, purge_pages", discard},
    {"enomem-mappings",
     "Where no mapping more is allowed, mprotect and munmap fail with ENOMEM and change nothing; "
     "MADV_DONTNEED still discards.",
     "hardened_malloc: deallocate_pages; OCaml: caml_plat_mem_unmap; largecache: pages.cc, unmap_pages", mappings},
    {"enomem-commit", "Where memory cannot be committed, mprotect fails with ENOMEM, and changes nothing.",
     "glibc: grow_heap; mimalloc: _mi_prim_commit", commit},
    {"cgroup-pressure", "Under the limit of a cgroup, the kernel takes no bytes but those that were given up.",
     "every program in a container; largecache: MADV_FREE under memory pressure", pressure},
    {0, 0, 0, 0}};
