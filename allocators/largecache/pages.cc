#include "largecache/pages.h"

#include <sys/mman.h>
#include <unistd.h>

namespace zerotax::largecache {
namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;
constexpr int kPrivateAnonymous = MAP_PRIVATE | MAP_ANONYMOUS;

std::uintptr_t Address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// mmap, madvise and munmap want pointers; addresses are kept as integers because most of them are
// compared and hashed, never followed.
void* Pointer(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

std::size_t PageSize() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::optional<std::size_t> RoundUpToPages(std::size_t size) {
  const std::size_t mask = PageSize() - 1;
  if (size > static_cast<std::size_t>(PTRDIFF_MAX) - mask) return std::nullopt;
  return (size + mask) & ~mask;
}

std::uintptr_t MapPages(std::size_t size, std::size_t alignment) {
  // mmap aligns to a page; for more, map that much more and trim both ends.
  const std::size_t page = PageSize();
  const std::size_t slack = alignment > page ? alignment - page : 0;
  // No overflow: whole pages within PTRDIFF_MAX, and less slack than the largest power of two.
  void* const start = mmap(nullptr, size + slack, kReadWrite, kPrivateAnonymous, -1, 0);
  if (start == MAP_FAILED) return 0;
  if (slack == 0) return Address(start);
  const std::uintptr_t address = (Address(start) + slack) & ~(alignment - 1);
  const std::size_t before = address - Address(start);
  const std::size_t after = slack - before;
  // A refusal leaves a piece mapped that nobody uses; it costs addresses, not memory.
  if (before != 0) UnmapPages(Address(start), before);
  if (after != 0) UnmapPages(address + size, after);
  return address;
}

bool UnmapPages(std::uintptr_t address, std::size_t size) { return munmap(Pointer(address), size) == 0; }

bool MapPagesAt(std::uintptr_t address, std::size_t size) {
  // MAP_FIXED_NOREPLACE rather than mremap without MREMAP_MAYMOVE: it is what libmalloc does (a
  // vm_allocate at a fixed address, which fails when anything is mapped there), and it does not ask
  // that the old block be one single mapping, which mprotect or madvise by the program may have
  // split (mremap(2): EFAULT).
  void* const wanted = Pointer(address);
  void* const got = mmap(wanted, size, kReadWrite, kPrivateAnonymous | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) return false;
  if (got == wanted) return true;
  // Before Linux 4.17 the flag is unknown and the address is a mere hint (mmap(2)).
  UnmapPages(Address(got), size);
  return false;
}

bool OfferPages(std::uintptr_t address, std::size_t size) { return madvise(Pointer(address), size, MADV_FREE) == 0; }

}  // namespace zerotax::largecache
