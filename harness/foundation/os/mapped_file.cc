#include "os/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "os/unique_fd.h"

namespace zerotax {

MappedFile::MappedFile(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    failure_ = errno;
    return;
  }
  // Opening a pipe would block, and a device may never end.
  if (!S_ISREG(status.st_mode)) {
    failure_ = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    return;
  }
  if (status.st_size == 0) return;
  void* memory = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) {
    failure_ = errno;
    return;
  }
  data_ = static_cast<const char*>(memory);
  size_ = static_cast<std::size_t>(status.st_size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), failure_(other.failure_) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace zerotax
