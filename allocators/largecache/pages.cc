#include "largecache/pages.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace zerotax::largecache {
namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;
constexpr int kPrivateAnonymous = MAP_PRIVATE | MAP_ANONYMOUS;

}  // namespace

#if !defined(__x86_64__)
std::size_t page_size() {
  // The kernel passes the page size to every program. The size is thus known before any constructor, and needs no lock.
  static std::atomic<std::size_t> known{0};
  std::size_t size = known.load(std::memory_order_relaxed);
  if (size == 0) known.store(size = getauxval(AT_PAGESZ), std::memory_order_relaxed);
  return size;
}
#endif

std::optional<std::size_t> round_up_to_pages(std::size_t size) {
  const std::size_t mask = page_size() - 1;
  if (size > static_cast<std::size_t>(PTRDIFF_MAX) - mask) return std::nullopt;
  return (size + mask) & ~mask;
}

std::uintptr_t map_pages(std::size_t size, std::size_t alignment) {
  // mmap aligns to a page. For a larger alignment, maps a longer range and trims both ends.
  const std::size_t page = page_size();
  const std::size_t slack = alignment > page ? alignment - page : 0;
  // A sum that wraps would map too little, and later unmap someone else's memory.
  std::size_t length = 0;
  if (__builtin_add_overflow(size, slack, &length)) return 0;
  void* const start = mmap(nullptr, length, kReadWrite, kPrivateAnonymous, -1, 0);
  if (start == MAP_FAILED) return 0;
  if (slack == 0) return address_of(start);
  const std::uintptr_t address = (address_of(start) + slack) & ~(alignment - 1);
  const std::size_t before = address - address_of(start);
  const std::size_t after = slack - before;
  // If the kernel refuses, an unused piece stays mapped. This piece costs addresses but no memory.
  if (before != 0) unmap_pages(address_of(start), before);
  if (after != 0) unmap_pages(address + size, after);
  return address;
}

bool unmap_pages(std::uintptr_t address, std::size_t size) { return munmap(as_pointer(address), size) == 0; }

bool map_pages_at(std::uintptr_t address, std::size_t size) {
  // libmalloc also maps at a fixed address (vm_allocate), which fails if anything is mapped there. mremap without
  // MREMAP_MAYMOVE would require the old block to be a single mapping (mremap(2): EFAULT). The program may have split
  // the block by mprotect or madvise.
  void* const wanted = as_pointer(address);
  void* const got = mmap(wanted, size, kReadWrite, kPrivateAnonymous | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) return false;
  if (got == wanted) return true;
  // Before Linux 4.17 the flag is unknown and the address is only a hint (mmap(2)).
  unmap_pages(address_of(got), size);
  return false;
}

bool offer_pages(std::uintptr_t address, std::size_t size) {
  return madvise(as_pointer(address), size, MADV_FREE) == 0;
}

bool purge_pages(std::uintptr_t address, std::size_t size) {
  return madvise(as_pointer(address), size, MADV_DONTNEED) == 0;
}

bool map_pages_over(std::uintptr_t address, std::size_t size) {
  return mmap(as_pointer(address), size, kReadWrite, kPrivateAnonymous | MAP_FIXED, -1, 0) != MAP_FAILED;
}

bool page_is_mapped(std::uintptr_t address) {
  unsigned char resident = 0;
  const int saved_errno = errno;
  const bool mapped = mincore(as_pointer(address), page_size(), &resident) == 0 || errno != ENOMEM;
  errno = saved_errno;
  return mapped;
}

void populate_pages(std::uintptr_t address, std::size_t size) {
  constexpr int kPopulateWrite = 23;  // available from Linux 5.14 on; the C library's headers may be older
  const int saved_errno = errno;
  madvise(as_pointer(address), size, kPopulateWrite);
  errno = saved_errno;
}

std::uint64_t minor_faults() {
  const int saved_errno = errno;
  rusage usage{};
  const bool said = getrusage(RUSAGE_THREAD, &usage) == 0;
  errno = saved_errno;
  return said ? static_cast<std::uint64_t>(usage.ru_minflt) : 0;
}

std::size_t witness_size() { return 2 * page_size(); }

bool witness_agrees(std::uintptr_t address, std::size_t size) {
  // The range includes one of the two witness pages; the other page shows that the mapping continues.
  const int saved_errno = errno;
  const void* const longer = mremap(as_pointer(address), size + page_size(), size + 2 * page_size(), 0);
  // EAGAIN: the process may not lock more memory. If mremap succeeds, the mapping ended at the end of the range, so it
  // is not one of ours.
  const bool agrees = longer == MAP_FAILED && (errno == ENOMEM || errno == EAGAIN);
  errno = saved_errno;
  return agrees;
}

namespace {

// Returns the advice on huge pages that comes closest to no advice, because madvise cannot remove advice. Without
// advice, either all mappings or none get huge pages.
int advice_like_none() {
  static std::atomic<int> known{0};  // 0 if not yet known; neither advice is 0
  int advice = known.load(std::memory_order_relaxed);
  if (advice != 0) return advice;
  advice = MADV_NOHUGEPAGE;
  const int file = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    char text[8];
    if (read(file, text, sizeof text) == sizeof text && memcmp(text, "[always]", sizeof text) == 0) {
      advice = MADV_HUGEPAGE;
    }
    close(file);
  }
  known.store(advice, std::memory_order_relaxed);
  return advice;
}

}  // namespace

bool witness_agrees_without_advice(std::uintptr_t address, std::size_t size) {
  const int saved_errno = errno;
  const bool taken_back = madvise(as_pointer(address), size + witness_size(), advice_like_none()) == 0;
  errno = saved_errno;
  return taken_back && witness_agrees(address, size);
}

bool lengthen_mapping(std::uintptr_t address, std::size_t old_size, std::size_t size) {
  const int saved_errno = errno;
  const bool longer = mremap(as_pointer(address), old_size, size, 0) != MAP_FAILED;
  errno = saved_errno;
  return longer;
}

std::uintptr_t move_pages(std::uintptr_t address, std::size_t old_size, std::size_t size, std::size_t alignment) {
  const int saved_errno = errno;
  const std::uintptr_t target = map_pages(size + witness_size(), alignment);
  // If there is no room for both mappings at once, the kernel chooses an address that is aligned only to pages.
  const int flags = target != 0 ? MREMAP_MAYMOVE | MREMAP_FIXED : MREMAP_MAYMOVE;
  void* const moved =
      mremap(as_pointer(address), old_size + witness_size(), size + witness_size(), flags, as_pointer(target));
  errno = saved_errno;
  // After a failure, the target may already be unmapped and belong to another thread. The target is left alone, which
  // costs only addresses.
  return moved == MAP_FAILED ? 0 : address_of(moved);
}

}  // namespace zerotax::largecache
