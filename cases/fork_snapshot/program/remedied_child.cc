#include "remedied_child.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace snapshot {
namespace {

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, include/uapi/asm-generic/mman-common.h

}  // namespace

void RemediedChild::after_end(Job& job) {
  helper_.start([this, &job] { return make_writable(job); });
  helper_.join();
}

bool populate_for_writing(void* begin, std::uint64_t bytes) { return ::madvise(begin, bytes, kPopulateWrite) == 0; }

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
