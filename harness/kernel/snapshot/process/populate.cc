#include "snapshot/process/populate.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "os/page.h"
#include "os/thread_usage.h"

namespace snapshot {
namespace {

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, include/uapi/asm-generic/mman-common.h

thread_local std::int64_t populated_faults = 0;

}  // namespace

bool populate_for_writing(void* begin, std::uint64_t bytes) {
  const std::int64_t before = zerotax::thread_usage().minor_faults;
  const bool done = ::madvise(begin, bytes, kPopulateWrite) == 0;
  populated_faults += zerotax::thread_usage().minor_faults - before;
  return done;
}

std::int64_t faults_of_populating() { return populated_faults; }

std::string why_not_on_memory(std::size_t bytes, const std::string& what, const std::function<bool(void*)>& works) {
  void* pages = ::mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return std::string("mmap: ") + std::strerror(errno);
  const auto begin = (reinterpret_cast<std::uintptr_t>(pages) + bytes - 1) & ~(bytes - 1);
  std::string why;
  if (!works(reinterpret_cast<void*>(begin))) {  // NOLINT(performance-no-int-to-ptr)
    why = what + ": " + std::strerror(errno);
  }
  ::munmap(pages, 2 * bytes);
  return why;
}

std::string why_no_populating() {
  return why_not_on_memory(zerotax::page_bytes(), "this kernel has no MADV_POPULATE_WRITE (Linux 5.14)",
                           [](void* page) { return populate_for_writing(page, zerotax::page_bytes()); });
}

}  // namespace snapshot
