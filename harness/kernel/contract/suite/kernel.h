// The kernel's interface: the call through which the suite makes its system calls, and the numbers that these calls
// need.
#pragma once

#include <stdint.h>

// The suite makes its system calls through kernel(). Tests of the suite replace it with lying_kernel().
long kernel(long number, long a, long b, long c, long d, long e, long f);

#ifdef ZEROTAX_CONTRACT_LIES
// Answers the call with the chosen lie, or makes the real call if no lie is chosen. The functions below choose the lie,
// and prepare it at the start and around a fork.
long lying_kernel(long number, long a, long b, long c, long d, long e, long f);
int choose_lie(const char* name);  // returns 0 if there is no lie of that name
void list_lies(void);
void lie_at_start(void);
void lie_before_fork(void);
void lie_in_child(void);
#endif

// Numbers of the kernel's interface that older headers and musl's headers lack. These numbers come from include/uapi of
// Linux 6.18, and are the same on x86-64 and aarch64. Beside each name is the kernel version that introduced the
// number.
enum {
  kMapDroppable = 0x08,      // MAP_DROPPABLE, 6.11
  kRemapDontUnmap = 4,       // MREMAP_DONTUNMAP, 5.7
  kFree = 8,                 // MADV_FREE, 4.5
  kRemove = 9,               // MADV_REMOVE, 2.6.16
  kMergeable = 12,           // MADV_MERGEABLE, 2.6.32
  kHugePage = 14,            // MADV_HUGEPAGE, 2.6.38
  kWipeOnFork = 18,          // MADV_WIPEONFORK, 4.14
  kKeepOnFork = 19,          // MADV_KEEPONFORK, 4.14
  kCold = 20,                // MADV_COLD, 5.4
  kPageOut = 21,             // MADV_PAGEOUT, 5.4
  kPopulateRead = 22,        // MADV_POPULATE_READ, 5.14
  kPopulateWrite = 23,       // MADV_POPULATE_WRITE, 5.14
  kDontNeedLocked = 24,      // MADV_DONTNEED_LOCKED, 5.18
  kCollapse = 25,            // MADV_COLLAPSE, 6.1
  kGuardInstall = 102,       // MADV_GUARD_INSTALL, 6.13
  kGuardRemove = 103,        // MADV_GUARD_REMOVE, 6.13
  kFallocKeepSize = 1,       // FALLOC_FL_KEEP_SIZE
  kFallocPunchHole = 2,      // FALLOC_FL_PUNCH_HOLE, 2.6.38
  kMemfdCloexec = 1,         // MFD_CLOEXEC
  kUserModeOnly = 1,         // UFFD_USER_MODE_ONLY, 5.11
  kRegisterMissing = 1,      // UFFDIO_REGISTER_MODE_MISSING
  kRegisterWriteProtect = 2  // UFFDIO_REGISTER_MODE_WP, 5.7
};

// Requests of ioctl(2), and the features that asynchronous write protection needs (6.7).
#define UFFD_API 0xc018aa3fUL
#define UFFD_REGISTER 0xc020aa00UL
#define UFFD_ZEROPAGE 0xc020aa04UL
#define UFFD_COPY 0xc028aa03UL
#define UFFD_WP_FEATURES ((1UL << 13) | (1UL << 15))  // WP_UNPOPULATED, WP_ASYNC
#define PAGEMAP_SCAN_REQUEST 0xc0606610UL

struct uffd_api {
  uint64_t api, features, ioctls;
};
struct uffd_register {
  uint64_t start, bytes, mode, ioctls;
};
struct uffd_zeropage {
  uint64_t start, bytes, mode;
  int64_t done;
};
struct uffd_copy {
  uint64_t to, from, bytes, mode;
  int64_t done;
};

// PAGEMAP_SCAN, 6.7.
enum {
  kPageWritten = 1 << 1,
  kPagePresent = 1 << 3,
  kPageSwapped = 1 << 4,
  kPageZero = 1 << 5,
  kScanProtect = 1,  // PM_SCAN_WP_MATCHING
  kScanCheck = 2     // PM_SCAN_CHECK_WPASYNC
};
struct scan_region {
  uint64_t start, end, categories;
};
struct scan_request {
  uint64_t size, flags, start, end, walk_end, regions, region_count, max_pages;
  uint64_t inverted, all_of, any_of, wanted;
};

// Bits of /proc/self/pagemap, which has one entry per page.
#define PAGEMAP_PRESENT (1UL << 63)
#define PAGEMAP_SWAPPED (1UL << 62)
#define PAGEMAP_SOFT_DIRTY (1UL << 55)
