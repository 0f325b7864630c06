// Lies about madvise.
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"
#include "lies.h"

static bool discards(const struct call* c) { return is_madvise(c, MADV_DONTNEED); }
static long without(bool effect, const struct call* c) { return effect ? 0 : truth(c); }

static long nothing(const struct call* c) { return without(discards(c), c); }

static long more(const struct call* c) {
  struct call wide = *c;
  if (discards(c)) wide.a[1] += (long)page;
  return truth(&wide);
}

static long rounds_down(const struct call* c) {
  struct call less = *c;
  if (discards(c)) less.a[1] -= less.a[1] % (long)page;
  return truth(&less);
}

static long any_start(const struct call* c) {
  struct call down = *c;
  if (discards(c)) down.a[0] -= down.a[0] % (long)page;
  return truth(&down);
}

static long locked(const struct call* c) {
  const long result = truth(c);
  return discards(c) && result == -1 && errno == EINVAL && c->a[0] % (long)page == 0 ? 0 : result;
}

static long locked_too(const struct call* c) { return without(is_madvise(c, kDontNeedLocked), c); }
static long in_child_nothing(const struct call* c) { return without(discards(c) && lie_child, c); }
static long in_parent_nothing(const struct call* c) { return without(discards(c) && lie_forked && !lie_child, c); }

static long none_nothing(const struct call* c) {
  const struct known* memory = known_at(address_of(c));
  return without(discards(c) && memory != NULL && memory->prot == PROT_NONE && memory->protected_from == address_of(c),
                 c);
}

static long hole(const struct call* c) {
  const long result = truth(c);
  return discards(c) && result == -1 && errno == ENOMEM ? 0 : result;
}

static long of_sharing(const struct call* c, int advice) {
  const struct known* memory = known_at(address_of(c));
  if (!is_madvise(c, advice) || memory == NULL || (memory->flags & MAP_TYPE) != MAP_SHARED) return truth(c);
  return syscall(SYS_madvise, c->a[0], c->a[1], MADV_REMOVE);
}
static long shared(const struct call* c) { return of_sharing(c, MADV_DONTNEED); }
static long free_shared(const struct call* c) { return of_sharing(c, kFree); }

static long of_file(const struct call* c) {
  const long result = truth(c);
  const struct known* memory = known_at(address_of(c));
  if (discards(c) && memory != NULL && memory->fd >= 0) memset(address_of(c), 0, bytes_of(c));
  return result;
}

static long guarded(const struct call* c) {
  const struct known* memory = known_at(address_of(c));
  return without(discards(c) && memory != NULL && memory->guarded, c);
}

static long guard_keeps(const struct call* c) {
  return without(is_madvise(c, kGuardInstall) || is_madvise(c, kGuardRemove), c);
}

static long free_tears(const struct call* c) {
  if (is_madvise(c, kFree) && bytes_of(c) == 256 * page) memset(address_of(c), 0, page / 2);
  return truth(c);
}

// Freed pages are lost, even if they are written to after MADV_FREE.
static long free_loses_writes(const struct call* c) {
  const struct known* memory = known_at(address_of(c));
  const long result = truth(c);
  if (is_madvise(c, kPageOut) && memory != NULL && memory->freed && bytes_of(c) == 64 * page) {
    memset(address_of(c), 0, bytes_of(c));
  }
  return result;
}

static long reclaim_tears(const struct call* c) {
  const struct known* memory = known_at(address_of(c));
  const long result = truth(c);
  if (is_madvise(c, kPageOut) && memory != NULL && memory->freed && !memory->huge && bytes_of(c) == 256 * page) {
    address_of(c)[page - 1] = kStale;
  }
  return result;
}

static long child_frees(const struct call* c) {
  if (is_madvise(c, kFree) && lie_child) {
    static char zeros[256];
    struct iovec from = {zeros, sizeof zeros};
    struct iovec to = {address_of(c), sizeof zeros};
    if (syscall(SYS_process_vm_writev, getppid(), &from, 1, &to, 1, 0) < 0) return -1;
  }
  return truth(c);
}

static long loses(const struct call* c, int advice) {
  const struct known* memory = known_at(address_of(c));
  const long result = truth(c);
  if (is_madvise(c, advice) && memory != NULL && !memory->freed) memset(address_of(c), 0, page);
  return result;
}
static long cold(const struct call* c) { return loses(c, kCold); }
static long paged_out(const struct call* c) { return loses(c, kPageOut); }

static long dirties(const struct call* c, int advice) {
  const long result = truth(c);
  if (is_madvise(c, advice) && result == 0) address_of(c)[page + 100] = kStale;
  return result;
}
static long populate_read(const struct call* c) { return dirties(c, kPopulateRead); }
static long populate_write(const struct call* c) { return dirties(c, kPopulateWrite); }
static long huge(const struct call* c) { return dirties(c, kHugePage); }

static long collapse(const struct call* c) {
  const long result = truth(c);
  if (is_madvise(c, kCollapse) && result == 0 && address_of(c)[page + 100] == 0) address_of(c)[page + 100] = kStale;
  return result;
}

static bool in_huge_page(const struct call* c) {
  const struct known* memory = known_at(address_of(c));
  return memory != NULL && memory->huge;
}
static long huge_nothing(const struct call* c) {
  return without(discards(c) && in_huge_page(c) && bytes_of(c) == page / 8 * page, c);
}
static long huge_part_nothing(const struct call* c) {
  return without(discards(c) && in_huge_page(c) && bytes_of(c) < page / 8 * page, c);
}

static long split(const struct call* c) {
  const bool hits = c->number == SYS_mprotect && in_huge_page(c);
  const long result = truth(c);
  if (hits) address_of(c)[-1] = 0;
  return result;
}

static long huge_tears(const struct call* c) {
  const long result = truth(c);
  if (is_madvise(c, kPageOut) && in_huge_page(c)) {
    memset(address_of(c), 0, page);
    address_of(c)[page - 1] = kStale;
  }
  return result;
}

static long medium_nothing(const struct call* c) { return without(discards(c) && bytes_of(c) == 5 * page, c); }

static long merges_wrong(const struct call* c) {
  const long result = truth(c);
  if (is_madvise(c, kMergeable) && result == 0) address_of(c)[2 * page + 7] = kStale;
  return result;
}

static long moves_wrong(const struct call* c) {
  const long result = truth(c);
  // Only a call with target nodes (not NULL) moves pages; other calls only query the nodes.
  if (c->number == SYS_move_pages && result >= 0 && c->a[3] != 0) ((char**)c->a[2])[6][9] = kStale;
  return result;
}

static long wipe(const struct call* c) { return without(is_madvise(c, kWipeOnFork), c); }
static long keep(const struct call* c) { return without(is_madvise(c, kKeepOnFork), c); }
static long removed(const struct call* c) { return without(is_madvise(c, kRemove), c); }

const struct lie kAdviceLies[] = {
    {"dontneed-nothing", "MADV_DONTNEED succeeds without effect (nanos before PR 2152)",
     "dontneed dontneed-part dontneed-length dontneed-start dontneed-child dontneed-parent dontneed-none dontneed-hole "
     "dontneed-file dontneed-guard dontneed-locked thp-dontneed thp-dontneed-part mthp-dontneed-part pagemap-discarded "
     "scan-discarded "
     "enomem-dontneed enomem-mappings dontneed-race",
     nothing},
    {"dontneed-wide", "MADV_DONTNEED takes a page too many",
     "dontneed-part dontneed-length dontneed-child thp-dontneed-part mthp-dontneed-part enomem-mappings", more},
    {"dontneed-rounds-down", "MADV_DONTNEED leaves the last part of a page", "dontneed-length", rounds_down},
    {"dontneed-any-start", "MADV_DONTNEED rounds its start down", "dontneed-start", any_start},
    {"dontneed-locked", "MADV_DONTNEED of locked pages succeeds without effect", "dontneed-locked", locked},
    {"dontneed-locked-too", "MADV_DONTNEED_LOCKED succeeds without effect", "dontneed-locked-too", locked_too},
    {"dontneed-child", "MADV_DONTNEED has no effect in a child", "dontneed-child", in_child_nothing},
    {"dontneed-parent", "MADV_DONTNEED has no effect after a fork", "dontneed-parent", in_parent_nothing},
    {"dontneed-none", "MADV_DONTNEED has no effect under PROT_NONE", "dontneed-none", none_nothing},
    {"dontneed-hole", "MADV_DONTNEED over a hole succeeds", "dontneed-hole", hole},
    {"dontneed-shared", "MADV_DONTNEED discards shared memory", "dontneed-shared", shared},
    {"dontneed-file", "MADV_DONTNEED gives zeros for a file's bytes", "dontneed-file", of_file},
    {"dontneed-guard", "MADV_DONTNEED stops at guards", "dontneed-guard", guarded},
    {"guard-keeps", "guards keep what was there", "guard-discards", guard_keeps},
    {"free-tears", "MADV_FREE takes half of a page", "free-old-or-zero", free_tears},
    {"free-loses-writes", "reclaim takes pages that were written after MADV_FREE", "free-write-cancels",
     free_loses_writes},
    {"reclaim-tears", "reclaim leaves a byte of a page", "free-reclaimed", reclaim_tears},
    {"free-child", "MADV_FREE in a child takes the parent's bytes", "free-child", child_frees},
    {"free-shared", "MADV_FREE discards shared memory", "free-shared", free_shared},
    {"cold-loses", "MADV_COLD loses a page", "cold-keeps", cold},
    {"pageout-loses", "MADV_PAGEOUT loses a page", "pageout-keeps", paged_out},
    {"populate-read-dirty", "MADV_POPULATE_READ brings in a stale byte", "populate-read", populate_read},
    {"populate-write-dirty", "MADV_POPULATE_WRITE brings in a stale byte", "populate-write", populate_write},
    {"thp-dirty", "a huge page has a stale byte", "thp-fresh thp-collapse mthp-dontneed-part", huge},
    {"collapse-dirty", "MADV_COLLAPSE brings in a stale byte", "thp-collapse", collapse},
    {"thp-dontneed", "MADV_DONTNEED of a huge page has no effect", "thp-dontneed", huge_nothing},
    {"thp-dontneed-part", "MADV_DONTNEED of a part of a huge page has no effect", "thp-dontneed-part",
     huge_part_nothing},
    {"thp-split", "a byte is lost as a huge page is split", "thp-split", split},
    {"thp-free-tears", "reclaim of a part of a huge page leaves a byte", "thp-free-part", huge_tears},
    {"mthp-dontneed-part", "MADV_DONTNEED of a part of a page of 64 KiB has no effect", "mthp-dontneed-part",
     medium_nothing},
    {"ksm-dirty", "a page that was merged has a stale byte", "ksm-keeps", merges_wrong},
    {"numa-dirty", "a page that was moved has a stale byte", "numa-moves", moves_wrong},
    {"wipe-nothing", "MADV_WIPEONFORK has no effect", "wipe-on-fork", wipe},
    {"keep-nothing", "MADV_KEEPONFORK has no effect", "keep-on-fork", keep},
    {"remove-nothing", "MADV_REMOVE has no effect", "remove", removed},
    {0, 0, 0, 0}};
