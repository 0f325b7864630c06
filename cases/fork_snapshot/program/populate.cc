#include "populate.h"

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

std::string why_no_populating() {
  void* page = ::mmap(nullptr, zerotax::kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return std::string("mmap: ") + std::strerror(errno);
  std::string why;
  if (!populate_for_writing(page, zerotax::kPageBytes)) {
    why = std::string("this kernel has no MADV_POPULATE_WRITE (Linux 5.14): ") + std::strerror(errno);
  }
  ::munmap(page, zerotax::kPageBytes);
  return why;
}

}  // namespace snapshot
