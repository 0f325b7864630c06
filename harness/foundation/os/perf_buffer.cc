#include "os/perf_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "os/page.h"

namespace zerotax {

PerfBuffer::PerfBuffer(int fd, std::size_t bytes) : bytes_(bytes) {
  void* memory = ::mmap(nullptr, page_bytes() + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) throw refused();
  page_ = static_cast<perf_event_mmap_page*>(memory);
}

PerfBuffer::~PerfBuffer() {
  if (page_ != nullptr) ::munmap(page_, page_bytes() + bytes_);
}

void PerfBuffer::copy(void* target, std::uint64_t from, std::size_t bytes) const {
  const auto* data = reinterpret_cast<const unsigned char*>(page_) + page_bytes();
  const std::size_t start = from % bytes_;
  const std::size_t first = std::min(bytes, bytes_ - start);
  std::memcpy(target, data + start, first);
  std::memcpy(static_cast<unsigned char*>(target) + first, data, bytes - first);
}

}  // namespace zerotax
