#include "largecache/adaptive/pagemap.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "largecache/pages.h"

namespace zerotax::largecache {
namespace {

// From include/uapi/linux/fs.h of Linux 6.7, because Debian 12's headers are older.
struct ScanRegion {
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t categories;
};
struct ScanArgument {
  std::uint64_t size;
  std::uint64_t flags;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t walk_end;
  std::uint64_t vec;
  std::uint64_t vec_len;
  std::uint64_t max_pages;
  std::uint64_t category_inverted;
  std::uint64_t category_mask;
  std::uint64_t category_anyof_mask;
  std::uint64_t return_mask;
};
constexpr unsigned long kPagemapScan = _IOWR('f', 16, ScanArgument);
constexpr std::uint64_t kPresent = 1U << 3;
constexpr std::uint64_t kSwapped = 1U << 4;
constexpr std::uint64_t kZeroPage = 1U << 5;

// Programs may rely on the lowest descriptors, so ours is above the range that most programs use.
constexpr int kLeastDescriptor = 256;
constexpr std::uint32_t kQuestionsBetweenTrials = 64;

// Data of this process, which a fork wipes in the child.
struct OfThisProcess {
  std::atomic<std::uint64_t> opened;  // upper half: count of opened descriptors; lower half: current descriptor + 1
                                      // (see Opened). 0: no descriptor is open
  std::atomic<std::int64_t> secret;   // random part of this process's secrets
  std::atomic<std::uint32_t> generation;
};

// A descriptor and its secret file position. Each descriptor that we open gets a different secret, so that two
// successive descriptors with the same number are never confused.
struct Opened {
  int descriptor = -1;
  std::int64_t secret = 0;
};

std::atomic<OfThisProcess*> of_this_process{nullptr};
// Copies of the data in `of_this_process`. A fork does not wipe the copies.
std::atomic<std::uint32_t> last_generation{0};
std::atomic<std::uint32_t> last_count{0};
std::atomic<int> last_descriptor{-1};
std::atomic<std::int64_t> last_secret{0};

std::atomic<std::uint32_t> failures{0};
std::atomic<bool> kernel_cannot{false};

// Returns nullptr if the kernel cannot wipe pages (before 4.14). In that case no answer after a fork could be trusted.
OfThisProcess* process_page() {
  OfThisProcess* page = of_this_process.load(std::memory_order_acquire);
  if (page != nullptr) return page;
  const std::size_t size = page_size();
  const std::uintptr_t address = map_pages(size, size);
  if (address == 0) return nullptr;
  if (madvise(as_pointer(address), size, MADV_WIPEONFORK) != 0) {
    unmap_pages(address, size);
    return nullptr;
  }
  auto* mine = static_cast<OfThisProcess*>(as_pointer(address));
  OfThisProcess* other = nullptr;
  if (of_this_process.compare_exchange_strong(other, mine, std::memory_order_acq_rel)) return mine;
  unmap_pages(address, size);
  return other;
}

// Returns a file position of at least 2^61. Neither another file nor a pagemap that the parent opened has this position
// by accident.
std::int64_t make_secret() {
  std::uint64_t random[2] = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9};
  if (const auto* given = reinterpret_cast<const void*>(getauxval(AT_RANDOM))) {  // NOLINT(performance-no-int-to-ptr)
    std::memcpy(random, given, sizeof random);
  }
  const std::uint64_t mixed = (random[0] ^ static_cast<std::uint64_t>(getpid())) * 0x9e3779b97f4a7c15 + random[1];
  return static_cast<std::int64_t>((mixed >> 3) | (std::uint64_t{1} << 61));
}

// Selects the pages that a scan reports: pages with all flags of `with`, none of `without`, and at least one of `any`.
struct Wanted {
  std::uint64_t with;
  std::uint64_t without;
  std::uint64_t any;
};
constexpr Wanted kNonZero{0, kZeroPage, kPresent | kSwapped};
constexpr Wanted kOnlyRead{kZeroPage, 0, kPresent};

bool scan(int descriptor, std::uintptr_t begin, std::uintptr_t end, const Wanted& wanted, ScanRegion* regions,
          std::size_t capacity, std::size_t& count, std::uintptr_t& walked) {
  ScanArgument scan{};
  scan.size = sizeof scan;
  scan.start = begin;
  scan.end = end;
  scan.vec = reinterpret_cast<std::uint64_t>(regions);
  scan.vec_len = capacity;
  scan.category_inverted = wanted.without;
  scan.category_mask = wanted.with | wanted.without;
  scan.category_anyof_mask = wanted.any;
  scan.return_mask = kPresent | kSwapped;
  const int got = ioctl(descriptor, kPagemapScan, &scan);
  // The scan stops early if `regions` is full. If the scan was interrupted, it has scanned nothing.
  if (got < 0 || static_cast<std::size_t>(got) > capacity || scan.walk_end <= begin || scan.walk_end > end)
    return false;
  count = static_cast<std::size_t>(got);
  walked = scan.walk_end;
  return true;
}

bool is_ours(int descriptor, std::int64_t secret) { return lseek(descriptor, 0, SEEK_CUR) == secret; }

// Closes the parent's descriptor in a child, where it is useless.
void close_inherited(const OfThisProcess& page) {
  const int descriptor = last_descriptor.exchange(-1, std::memory_order_relaxed);
  const std::int64_t secret = last_secret.load(std::memory_order_relaxed);
  const auto count = static_cast<std::uint64_t>(secret - page.secret.load(std::memory_order_relaxed));
  if (descriptor >= 0 && count > UINT32_MAX && is_ours(descriptor, secret)) {
    close(descriptor);
  }
}

// Whether the kernel knows the ioctl, and reports as present a page that we have just written.
bool tells_the_truth(int descriptor, const OfThisProcess& page) {
  ScanRegion region{};
  std::size_t count = 0;
  std::uintptr_t walked = 0;
  const auto here = reinterpret_cast<std::uintptr_t>(&page) & ~(page_size() - 1);
  if (scan(descriptor, here, here + page_size(), kNonZero, &region, 1, count, walked)) return count == 1;
  // The answer will not change, because the kernel is too old for the ioctl, or a filter forbids it.
  if (errno != ENOMEM && errno != EINTR) kernel_cannot.store(true, std::memory_order_relaxed);
  return false;
}

Opened unpack(std::uint64_t opened, const OfThisProcess& page) {
  if (opened == 0) return {};
  return {static_cast<int>(opened & 0xffffffff) - 1,
          page.secret.load(std::memory_order_acquire) + static_cast<std::int64_t>(opened >> 32)};
}

// Opens a descriptor with a high number and close-on-exec, and sets its position to the secret. Returns -1 if no
// descriptor is available.
Opened open_pagemap(OfThisProcess& page) {
  // /proc/self would refer to the first thread. If the first thread has ended, /proc/self shows no memory.
  const int low = open("/proc/thread-self/pagemap", O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (low < 0) return {};
  int descriptor = fcntl(low, F_DUPFD_CLOEXEC, kLeastDescriptor);
  if (descriptor < 0) {
    descriptor = low;  // the limit on descriptors is below kLeastDescriptor
  } else {
    close(low);
  }
  page.secret.store(make_secret(), std::memory_order_release);
  const std::uint64_t count = last_count.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::uint64_t packed = count << 32 | (static_cast<std::uint64_t>(descriptor) + 1);
  const Opened opened = unpack(packed, page);
  // The position is set before the check. If the program meanwhile opened a file under this number, that file has the
  // secret position, but the check fails because it does not report our page.
  if (lseek(descriptor, opened.secret, SEEK_SET) != opened.secret || !tells_the_truth(descriptor, page)) {
    close(descriptor);
    return {};
  }
  close_inherited(page);
  std::uint64_t none = 0;
  if (page.opened.compare_exchange_strong(none, packed, std::memory_order_acq_rel)) {
    last_secret.store(opened.secret, std::memory_order_relaxed);
    last_descriptor.store(descriptor, std::memory_order_relaxed);
    return opened;
  }
  close(descriptor);  // another thread was faster
  return unpack(none, page);
}

Opened current_descriptor(OfThisProcess* page) {
  if (kernel_cannot.load(std::memory_order_relaxed) || page == nullptr) return {};
  const std::uint64_t opened = page->opened.load(std::memory_order_acquire);
  return opened != 0 ? unpack(opened, *page) : open_pagemap(*page);
}

// Forgets a descriptor that the program has closed. If the program has opened a file under the same number since, that
// file stays open.
void forget(OfThisProcess& page, const Opened& gone) {
  std::uint64_t opened = page.opened.load(std::memory_order_acquire);
  if (unpack(opened, page).secret == gone.secret) {
    page.opened.compare_exchange_strong(opened, 0, std::memory_order_acq_rel);
  }
}

bool find_runs(std::uintptr_t begin, std::uintptr_t end, const Wanted& wanted, PageRun* runs, std::size_t capacity,
               std::size_t& count, std::uintptr_t& walked) {
  constexpr std::size_t kMost = 128;
  ScanRegion regions[kMost];
  const int saved_errno = errno;
  OfThisProcess* const page = process_page();
  bool said = false;
  for (int trial = 0; trial < 2; ++trial) {
    const Opened opened = current_descriptor(page);
    if (opened.descriptor < 0) break;
    said = scan(opened.descriptor, begin, end, wanted, regions, capacity < kMost ? capacity : kMost, count, walked);
    // The secret position is checked after the scan, because another thread may at any moment make the descriptor refer
    // to another pagemap. On other files the ioctl has no effect.
    if (is_ours(opened.descriptor, opened.secret)) break;
    said = false;
    forget(*page, opened);
  }
  errno = saved_errno;
  if (!said) {
    failures.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (failures.load(std::memory_order_relaxed) != 0) failures.store(0, std::memory_order_relaxed);
  for (std::size_t i = 0; i < count; ++i) {
    runs[i] = {regions[i].start, regions[i].end, (regions[i].categories & kSwapped) != 0};
  }
  return true;
}

}  // namespace

bool non_zero_runs(std::uintptr_t begin, std::uintptr_t end, PageRun* runs, std::size_t capacity, std::size_t& count,
                   std::uintptr_t& walked) {
  return find_runs(begin, end, kNonZero, runs, capacity, count, walked);
}

bool zero_page_runs(std::uintptr_t begin, std::uintptr_t end, PageRun* runs, std::size_t capacity, std::size_t& count,
                    std::uintptr_t& walked) {
  return find_runs(begin, end, kOnlyRead, runs, capacity, count, walked);
}

bool can_look() {
  if (kernel_cannot.load(std::memory_order_relaxed)) return false;
  if (failures.load(std::memory_order_relaxed) == 0) return true;
  return failures.fetch_add(1, std::memory_order_relaxed) % kQuestionsBetweenTrials == 0;
}

std::uint32_t fork_generation() {
  OfThisProcess* page = process_page();
  if (page == nullptr) return 0;
  const std::uint32_t generation = page->generation.load(std::memory_order_relaxed);
  return generation != 0 ? generation : next_fork_generation();
}

std::uint32_t next_fork_generation() {
  OfThisProcess* page = process_page();
  if (page == nullptr) return 0;
  const std::uint32_t generation = last_generation.fetch_add(1, std::memory_order_relaxed) + 1;
  page->generation.store(generation, std::memory_order_relaxed);
  return generation;
}

}  // namespace zerotax::largecache
