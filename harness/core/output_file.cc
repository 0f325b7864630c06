#include "core/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/strict_json.h"
#include "os/input_file.h"
#include "os/unique_fd.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const std::string& path, int reason) {
  throw UsageError(fmt::format("cannot write {}: {}", path, std::strerror(reason)),
                   reason == ENOSPC || reason == EDQUOT ? "free some space, or write somewhere else"
                                                        : "give a path in a folder that you may write to");
}

void write_all(int fd, const std::string& path, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(fd, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) cannot_write(path, errno);
    done += static_cast<std::size_t>(written);
  }
}

bool is_special(const std::string& path) {
  std::error_code failure;
  return fs::exists(path, failure) && !fs::is_regular_file(path, failure);
}

std::string neighbour(const std::string& path) { return fmt::format("{}.{}.new", path, ::getpid()); }

}  // namespace

void write_file(const std::string& path, const std::string& text) {
  if (path == "-") {
    write_all(STDOUT_FILENO, "standard output", text);
    return;
  }
  if (is_special(path)) {
    const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd) cannot_write(path, errno);
    write_all(fd.get(), path, text);
    return;
  }
  const std::string temporary = neighbour(path);
  try {
    const UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!fd) cannot_write(path, errno);
    write_all(fd.get(), path, text);
    if (::fsync(fd.get()) != 0) cannot_write(path, errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0) cannot_write(path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void check_writable(const std::string& path) {
  if (path == "-") return;
  std::error_code failure;
  if (fs::is_fifo(path, failure)) {
    // Opened and closed, it would have ended for its reader.
    if (::access(path.c_str(), W_OK) != 0) cannot_write(path, errno);
    return;
  }
  if (is_special(path)) {
    const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd) cannot_write(path, errno);
    return;
  }
  const std::string temporary = neighbour(path);
  const UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (!fd) cannot_write(path, errno);
  ::unlink(temporary.c_str());
}

Json read_json_file(const std::string& path) {
  try {
    return parse_strict_json(read_input_file(path));
  } catch (const JsonTextError& failure) {
    throw UsageError(fmt::format("{} {}", path, failure.what()), "give a file that zerotax wrote");
  }
}

}  // namespace zerotax
