#include "os/input_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "os/unique_fd.h"

namespace zerotax {
namespace {

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

[[noreturn]] void cannot_read(const std::string& path, int reason) {
  if (reason == ENOENT) require_folder_of(path);
  throw UsageError("cannot read " + path + ": " + std::strerror(reason), "check the path and its permissions");
}

}  // namespace

namespace fs = std::filesystem;

void require_working_folder() {
  std::error_code failure;
  if (!fs::current_path(failure).empty()) return;
  throw UsageError("the working folder was deleted", "change to another folder, as with cd /");
}

void require_folder_of(const fs::path& path) {
  if (!path.is_absolute()) require_working_folder();
}

fs::path absolute_path(const fs::path& path) {
  require_folder_of(path);
  return fs::absolute(path);
}

bool is_there(const std::string& path) {
  std::error_code failure;
  return std::filesystem::symlink_status(path, failure).type() != std::filesystem::file_type::not_found;
}

std::string read_input_file(const std::string& path) {
  if (path.find('\0') != std::string::npos) cannot_read(path, EINVAL);
  // Without O_NONBLOCK, open would wait for a writer if the path is a pipe.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd) cannot_read(path, errno);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) cannot_read(path, errno);
  if (!S_ISREG(status.st_mode)) {
    throw UsageError(path + " is " + kind_of(status.st_mode) + ", not a regular file",
                     "give a file that zerotax wrote");
  }
  const auto too_large = [&] {
    return UsageError(path + " is larger than 1 GiB", "give a file that zerotax wrote: no such file is that large");
  };
  if (static_cast<std::size_t>(status.st_size) > kMostInputBytes) throw too_large();
  std::string text;
  text.resize(static_cast<std::size_t>(status.st_size) + 1);
  std::size_t bytes = 0;
  for (;;) {
    const ssize_t got = ::read(fd.get(), text.data() + bytes, text.size() - bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot_read(path, errno);
    if (got == 0) break;
    bytes += static_cast<std::size_t>(got);
    if (bytes > kMostInputBytes) throw too_large();
    // The file grew while it was read, or is in /proc, where every size is 0.
    if (bytes == text.size()) text.resize(std::min(2 * bytes, kMostInputBytes) + 1);
  }
  text.resize(bytes);
  return text;
}

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
