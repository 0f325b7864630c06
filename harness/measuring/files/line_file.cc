#include "files/line_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/error.h"
#include "base/size.h"
#include "base/units.h"
#include "files/new_file.h"
#include "files/output_kind.h"
#include "os/file_lock.h"
#include "os/regular_file.h"

namespace zerotax {
namespace {

void write_line(int fd, const std::string& path, const std::string& text) {
  if (write_all(fd, text)) return;
  if (errno == EPIPE) throw std::system_error(EPIPE, std::generic_category(), path);
  cannot_write(path == "-" ? "standard output" : path, errno);
}

/// Bytes up to and including the last line break.
std::uint64_t whole_lines(int fd, std::uint64_t size) {
  std::array<char, 4096> text;
  while (size > 0) {
    const std::uint64_t begin = size > text.size() ? size - text.size() : 0;
    const ssize_t taken = ::pread(fd, text.data(), size - begin, static_cast<off_t>(begin));
    if (taken <= 0) return size;
    for (ssize_t i = taken; i > 0; --i) {
      if (text[static_cast<std::size_t>(i) - 1] == '\n') return begin + static_cast<std::uint64_t>(i);
    }
    size = begin;
  }
  return 0;
}

}  // namespace

void LineFile::add(const std::string& line) {
  try {
    write_line(file_.fd(), path_, line + '\n');
  } catch (const UsageError&) {
    // Cuts off a partial line. If that fails as well, nothing more can be done.
    if (file_.takes_place() && ::ftruncate(file_.fd(), static_cast<off_t>(written_)) == 0)
      ::lseek(file_.fd(), 0, SEEK_END);
    throw;
  }
  if (written_ == 0) file_.keep();
  written_ += line.size() + 1;
}

BoundedLog::BoundedLog(std::string path, std::uint64_t most) : path_(std::move(path)), most_(most / 2) { open(); }

void BoundedLog::open() {
  // Without O_NONBLOCK, open would wait for the reader of a pipe. Pipes are refused below.
  fd_ = UniqueFd(::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666));
  if (!fd_) cannot_write(path_, errno);
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw UsageError(fmt::format("{} is not a regular file", path_), "give a file; --json - writes to standard output");
  }
  if (try_lock(fd_.get()) == LockResult::kHeld) {
    throw UsageError(fmt::format("{} writes {}", lock_holder(fd_.get()), path_), "give each command its own file");
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  size_ = whole_lines(fd_.get(), size);
  if (size_ < size && ::ftruncate(fd_.get(), static_cast<off_t>(size_)) != 0) cannot_write(path_, errno);
}

void BoundedLog::rotate() {
  check_still_replaceable(path_ + ".1");
  if (::rename(path_.c_str(), (path_ + ".1").c_str()) != 0) cannot_write(path_ + ".1", errno);
  open();
}

void BoundedLog::add(const std::string& line) {
  const std::uint64_t bytes = line.size() + 1;
  if (bytes > most_) {
    throw UsageError(fmt::format("a line of {} does not fit into {}", format_counted(bytes, "byte"), path_),
                     "give a larger --log-size, or fewer --rows");
  }
  if (size_ + bytes > most_) rotate();
  write_line(fd_.get(), path_, line + '\n');
  size_ += bytes;
}

}  // namespace zerotax
