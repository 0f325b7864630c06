#include "files/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "base/error.h"
#include "files/output_file.h"
#include "files/output_kind.h"
#include "os/input_file.h"
#include "os/regular_file.h"

namespace zerotax {

std::optional<int> own_descriptor(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    int fd = -1;
    if (!path.starts_with(folder)) continue;
    const char* end = path.data() + path.size();
    const auto [at, failure] = std::from_chars(path.data() + folder.size(), end, fd);
    if (failure == std::errc() && at == end) return fd;
  }
  return std::nullopt;
}

void cannot_write(const std::string& path, int reason) {
  if (reason == ENOENT) require_folder_of(path);
  throw UsageError(fmt::format("cannot write {}: {}", path, std::strerror(reason)),
                   reason == ENOSPC || reason == EDQUOT ? "free some space, or write somewhere else"
                                                        : "give a path in a folder that you may write to");
}

namespace {

namespace fs = std::filesystem;

/// Named pipes that check_writable has opened. These pipes stay open, because closing and reopening a pipe would signal
/// its end to the reader.
std::map<std::string, UniqueFd>& held_pipes() {
  static std::map<std::string, UniqueFd> pipes;
  return pipes;
}

/// Opens a named pipe once it has a reader. Without O_NONBLOCK, open would wait forever.
UniqueFd open_pipe(const std::string& path) {
  constexpr auto kPatience = std::chrono::seconds(2);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    UniqueFd fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (fd) {
      ::fcntl(fd.get(), F_SETFL, O_WRONLY);  // later writes wait for a slow reader
      return fd;
    }
    if (errno != ENXIO) cannot_write(path, errno);
    if (std::chrono::steady_clock::now() > end) {
      throw UsageError(fmt::format("no process reads the pipe {}", path), "start its reader first, or give a file");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

enum class Place { kNew, kFile, kPipe, kSpecial, kDescriptor };

/// The kind of file at a path. Throws UsageError for a kind that cannot be written to.
Place place_of(const std::string& path) {
  if (path == "-") return Place::kDescriptor;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) cannot_write(path, errno);  // the errno of a loop of links, for example
    return Place::kNew;
  }
  if (S_ISREG(status.st_mode)) return own_descriptor(path) ? Place::kDescriptor : Place::kFile;
  if (S_ISBLK(status.st_mode)) throw UsageError(fmt::format("{} is a disk", path), "give the path of a file");
  return S_ISFIFO(status.st_mode) ? Place::kPipe : Place::kSpecial;
}

/// The path that a link leads to. Replacing the file at that path keeps the link.
std::string followed(const std::string& path) {
  std::error_code failure;
  const fs::path real = fs::canonical(path, failure);
  return failure ? path : real.string();
}

constexpr mode_t kPermissions = 0666;

/// Tries names beside a path until `make` accepts one. A file that already has such a name is not ours, and stays.
std::string beside(const std::string& path, const std::function<bool(const std::string& name)>& make) {
  constexpr int kMost = 99;
  for (int number = 0;; ++number) {
    std::string name = fmt::format("{}.{}{}.new", path, ::getpid(), number == 0 ? "" : fmt::format("-{}", number));
    if (make(name)) return name;
    if (errno != EEXIST || number == kMost) cannot_write(path, errno);
  }
}

/// The path under which the kernel shows an open file. linkat() uses this path to give the file a name.
std::string link_of(const UniqueFd& fd) { return fmt::format("/proc/self/fd/{}", fd.get()); }

/// Opens a file without a name, which disappears if this process is killed. Not every file system supports files
/// without a name.
UniqueFd open_nameless(const std::string& folder) {
  UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kPermissions));
  if (fd && ::access(link_of(fd).c_str(), F_OK) != 0) fd.reset();  // /proc is not mounted
  return fd;
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

NewFile::NewFile(std::string path) : path_(std::move(path)) {
  switch (place_of(path_)) {
    case Place::kDescriptor:
      fd_ = UniqueFd(::fcntl(*own_descriptor(path_), F_DUPFD_CLOEXEC, 3));
      break;
    case Place::kPipe: {
      auto held = held_pipes().extract(path_);
      fd_ = held.empty() ? open_pipe(path_) : std::move(held.mapped());
      break;
    }
    case Place::kSpecial:
      fd_ = UniqueFd(::open(path_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
      break;
    case Place::kNew:
    case Place::kFile:
      target_ = followed(path_);
      fd_ = open_nameless(folder_of(target_));
      if (!fd_) {
        temporary_ = beside(target_, [&](const std::string& name) {
          fd_ = UniqueFd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kPermissions));
          return bool(fd_);
        });
      }
  }
  if (!fd_) cannot_write(path_, errno);
}

NewFile::~NewFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void NewFile::hold_pipe() {
  if (place_of(path_) == Place::kPipe) held_pipes()[path_] = std::move(fd_);
}

void NewFile::add(std::string_view text) {
  if (!write_all(fd_.get(), text)) cannot_write(path_ == "-" ? "standard output" : path_, errno);
}

void NewFile::give_name() {
  if (::fsync(fd_.get()) != 0) cannot_write(path_, errno);
  if (!temporary_.empty()) return;
  temporary_ = beside(target_, [&](const std::string& name) {
    return ::linkat(AT_FDCWD, link_of(fd_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  });
}

std::string NewFile::keep_beside() {
  if (target_.empty()) return path_;
  give_name();
  return std::exchange(temporary_, "");
}

void NewFile::keep() {
  if (target_.empty()) return;
  give_name();
  const auto refuse = [&](const std::string& problem) {
    throw UsageError(problem, "the result is in " + std::exchange(temporary_, ""));
  };
  try {
    check_still_replaceable(path_);
  } catch (const UsageError& refusal) {
    refuse(refusal.what());
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    refuse(fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
  }
  temporary_.clear();
}

std::string NewFile::keep_part() {
  struct stat status {};
  if (target_.empty() || ::lstat(target_.c_str(), &status) == 0) return keep_beside();
  keep();
  return path_;
}

}  // namespace zerotax
