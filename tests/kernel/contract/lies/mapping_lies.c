// Lies about mmap, munmap, mprotect, brk and mremap.
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"
#include "lies.h"

static char saved[1 << 20];
static char* saved_from;
static size_t saved_bytes;

static void save(const char* p, size_t bytes) {
  saved_from = (char*)p;
  saved_bytes = bytes < sizeof saved ? bytes : sizeof saved;
  memcpy(saved, p, saved_bytes);
}

static long dirty(long result, size_t offset) {
  if (result != -1) ((char*)result)[offset] = kStale;
  return result;
}

static long mmap_large(const struct call* c) {
  const long p = truth(c);
  return is_anonymous_mmap(c, MAP_PRIVATE) && bytes_of(c) == 8192 * page ? dirty(p, 3 * page + 100) : p;
}

static long mmap_nothing(const struct call* c) {
  const long p = truth(c);
  if (p != -1 && is_anonymous_mmap(c, MAP_PRIVATE) && bytes_of(c) == 8192 * page) munmap((void*)p, bytes_of(c));
  return p;
}

static long mmap_stale(const struct call* c) {
  if (c->number == SYS_munmap) save(address_of(c), page);
  const long p = truth(c);
  if (c->number == SYS_mmap && (char*)p == saved_from && saved_from != NULL) memcpy((char*)p, saved, page);
  return p;
}

static long mmap_fixed(const struct call* c) {
  if (c->number != SYS_mmap || (c->a[3] & MAP_FIXED) == 0) return truth(c);
  return msync(address_of(c), bytes_of(c), MS_ASYNC) == 0 ? c->a[0] : truth(c);
}

static long mmap_fixed_wide(const struct call* c) {
  if (c->number != SYS_mmap || (c->a[3] & MAP_FIXED) == 0) return truth(c);
  struct call more = *c;
  if (msync(address_of(c) + bytes_of(c), page, MS_ASYNC) == 0) more.a[1] += (long)page;
  return truth(&more);
}

static long with_flag(const struct call* c, int flag) {
  const long p = truth(c);
  return is_anonymous_mmap(c, MAP_PRIVATE) && (c->a[3] & flag) != 0 ? dirty(p, 3 * page + 100) : p;
}
static long mmap_populate(const struct call* c) { return with_flag(c, MAP_POPULATE); }
static long mmap_locked(const struct call* c) { return with_flag(c, MAP_LOCKED); }
static long mmap_noreserve(const struct call* c) { return with_flag(c, MAP_NORESERVE); }

static long mmap_shared(const struct call* c) {
  const long p = truth(c);
  return is_anonymous_mmap(c, MAP_SHARED) ? dirty(p, 3 * page + 100) : p;
}

static long mmap_droppable(const struct call* c) {
  struct call other = *c;
  if (c->number == SYS_mmap && (c->a[3] & MAP_TYPE) == kMapDroppable) other.a[3] = MAP_PRIVATE | MAP_ANONYMOUS;
  return truth(&other);
}

static long mmap_reserved(const struct call* c) {
  const long result = truth(c);
  const struct known* memory = known_at(address_of(c));
  if (c->number == SYS_mprotect && result == 0 && memory != NULL && memory->first_prot == PROT_NONE) {
    address_of(c)[100] = kStale;
  }
  return result;
}

static long mprotect_loses(const struct call* c) {
  const struct known* memory = known_at(address_of(c));
  const long result = truth(c);
  if (c->number == SYS_mprotect && c->a[2] != PROT_NONE && memory != NULL && memory->was_protected) {
    syscall(SYS_madvise, c->a[0], c->a[1], MADV_DONTNEED);
  }
  return result;
}

static long file_tail(const struct call* c) {
  const long p = truth(c);
  return c->number == SYS_mmap && c->a[4] >= 0 && (c->a[3] & MAP_TYPE) == MAP_PRIVATE && bytes_of(c) == page
             ? dirty(p, 200)
             : p;
}

// Maps one page in two mappings, as if both pages were the zero page and a write went to the zero page.
static long zero_page(const struct call* c) {
  const long p = truth(c);
  const struct known* first = each_known(0);
  if (lie_calls != 2 || first == NULL || !is_anonymous_mmap(c, MAP_PRIVATE) || bytes_of(c) != 8 * page) return p;
  const int fd = (int)syscall(SYS_memfd_create, "zero", 0);
  if (ftruncate(fd, (off_t)page) != 0) return -1;
  (void)mmap(first->begin + 3 * page, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
  (void)mmap((char*)p + 3 * page, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
  return p;
}

static char* highest;

static long brk_grows(const struct call* c) {
  const long end = truth(c);
  if (c->number != SYS_brk) return end;
  if (highest != NULL && (char*)end > highest + page) highest[100] = kStale;
  if ((char*)end > highest) highest = (char*)end;
  return end;
}

static long brk_stale(const struct call* c) {
  static char* last;
  if (c->number != SYS_brk) return truth(c);
  if (c->a[0] != 0 && address_of(c) < last) save(address_of(c), (size_t)(last - address_of(c)));
  const long end = truth(c);
  if (saved_from != NULL && (char*)end == saved_from + saved_bytes) memcpy(saved_from, saved, saved_bytes);
  last = (char*)end;
  return end;
}

static long mremap_grows(const struct call* c) {
  const long p = truth(c);
  return c->number == SYS_mremap && c->a[2] > c->a[1] && c->a[2] < 96 * (long)page ? dirty(p, bytes_of(c) + 100) : p;
}

static long mremap_loses(const struct call* c) {
  const long p = truth(c);
  if (c->number == SYS_mremap && p != -1 && c->a[2] >= 96 * (long)page) memset((char*)p, 0, page);
  return p;
}

static long mremap_stale(const struct call* c) {
  if (c->number != SYS_mremap) return truth(c);
  if (c->a[2] < c->a[1]) save(address_of(c) + c->a[2], (size_t)(c->a[1] - c->a[2]));
  const long p = truth(c);
  if (p != -1 && saved_bytes > 0 && (size_t)(c->a[2] - c->a[1]) == saved_bytes) {
    memcpy((char*)p + bytes_of(c), saved, saved_bytes);
  }
  return p;
}

static long dontunmap(const struct call* c) {
  const long p = truth(c);
  if (c->number == SYS_mremap && (c->a[3] & kRemapDontUnmap) != 0 && p != -1) {
    memcpy(address_of(c), (char*)p, bytes_of(c));
  }
  return p;
}

const struct lie kMappingLies[] = {
    {"mmap-large-dirty", "a large mapping has a stale byte", "mmap-fresh", mmap_large},
    {"mmap-nothing", "mmap says that it mapped, and did not", "mmap-fresh", mmap_nothing},
    {"mmap-stale", "a mapping where another one was has its bytes", "mmap-reused fork-fresh thp-split", mmap_stale},
    {"mmap-fixed-nothing", "MAP_FIXED over a mapping leaves it as it is", "mmap-fixed", mmap_fixed},
    {"mmap-fixed-wide", "MAP_FIXED replaces a page too many", "mmap-fixed", mmap_fixed_wide},
    {"populate-dirty", "MAP_POPULATE brings in a stale byte", "mmap-populate", mmap_populate},
    {"locked-dirty", "MAP_LOCKED brings in a stale byte", "mmap-locked", mmap_locked},
    {"noreserve-dirty", "MAP_NORESERVE gives a stale byte", "mmap-noreserve", mmap_noreserve},
    {"shared-dirty", "a shared mapping has a stale byte", "mmap-shared", mmap_shared},
    {"droppable-inherited", "MAP_DROPPABLE is ordinary memory", "mmap-droppable", mmap_droppable},
    {"reserved-dirty", "memory that becomes writable has a stale byte", "mmap-reserved", mmap_reserved},
    {"mprotect-loses", "mprotect after PROT_NONE discards", "mprotect-keeps", mprotect_loses},
    {"file-tail-dirty", "behind the end of a file there is a stale byte", "mmap-file-tail", file_tail},
    {"bss-dirty", ".bss has a stale byte", "exec-bss", NULL},
    {"zero-page-written", "a write goes to a page that another mapping has, too", "zero-page", zero_page},
    {"brk-dirty", "the heap grows by a page with a stale byte", "brk-fresh", brk_grows},
    {"brk-stale", "the heap gets back what it gave", "brk-regrown", brk_stale},
    {"mremap-dirty", "a mapping grows by a page with a stale byte", "mremap-grown mremap-regrown enomem-mremap",
     mremap_grows},
    {"mremap-loses", "a page is lost as a mapping moves", "mremap-keeps", mremap_loses},
    {"mremap-stale", "a mapping gets back what was cut off", "mremap-regrown", mremap_stale},
    {"dontunmap-copies", "MREMAP_DONTUNMAP copies instead of moving", "mremap-dontunmap", dontunmap},
    {0, 0, 0, 0}};
