#include "files/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/strict_json.h"
#include "files/cannot_write.h"
#include "files/output_kind.h"
#include "os/input_file.h"
#include "os/unique_fd.h"
#include "os/write_all.h"

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
  throw UsageError(fmt::format("cannot write {}: {}", path, std::strerror(reason)),
                   reason == ENOSPC || reason == EDQUOT ? "free some space, or write somewhere else"
                                                        : "give a path in a folder that you may write to");
}

namespace {

namespace fs = std::filesystem;

void write_or_throw(int fd, const std::string& path, const std::string& text) {
  if (!write_all(fd, text)) cannot_write(path, errno);
}

/// Named pipes that check_writable has opened. They stay open: reopened, they would end for their reader in between.
std::map<std::string, UniqueFd>& held_pipes() {
  static std::map<std::string, UniqueFd> pipes;
  return pipes;
}

/// Opens a named pipe, once somebody reads it. Without O_NONBLOCK, open would wait for ever.
UniqueFd open_pipe(const std::string& path) {
  constexpr auto kPatience = std::chrono::seconds(2);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    UniqueFd fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (fd) {
      ::fcntl(fd.get(), F_SETFL, O_WRONLY);  // but a slow reader is waited for
      return fd;
    }
    if (errno != ENXIO) cannot_write(path, errno);
    if (std::chrono::steady_clock::now() > end) {
      throw UsageError(fmt::format("nobody reads the pipe {}", path), "start its reader first, or give a file");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

enum class Place { kNew, kFile, kPipe, kSpecial, kDescriptor };

/// What is there. Throws UsageError for what nothing may be written to.
Place place_of(const std::string& path) {
  if (path == "-") return Place::kDescriptor;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) cannot_write(path, errno);  // a loop of links
    return Place::kNew;
  }
  if (S_ISREG(status.st_mode)) return own_descriptor(path) ? Place::kDescriptor : Place::kFile;
  if (S_ISBLK(status.st_mode)) throw UsageError(fmt::format("{} is a disk", path), "give the path of a file");
  return S_ISFIFO(status.st_mode) ? Place::kPipe : Place::kSpecial;
}

/// What a link leads to, so that the link stays.
std::string followed(const std::string& path) {
  std::error_code failure;
  const fs::path real = fs::canonical(path, failure);
  return failure ? path : real.string();
}

/// A new file beside it. A file that has the name already is not ours, and stays.
std::pair<UniqueFd, std::string> open_neighbour(const std::string& path) {
  for (int number = 0;; ++number) {
    std::string name = fmt::format("{}.{}{}.new", path, ::getpid(), number == 0 ? "" : fmt::format("-{}", number));
    UniqueFd fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd) return {std::move(fd), std::move(name)};
    if (errno != EEXIST || number == 99) cannot_write(path, errno);
  }
}

void write_special(const UniqueFd& fd, const std::string& path, const std::string& text) {
  if (!fd) cannot_write(path, errno);
  write_or_throw(fd.get(), path, text);
}

}  // namespace

void write_file(const std::string& path, const std::string& text) {
  switch (place_of(path)) {
    case Place::kDescriptor:
      return write_or_throw(*own_descriptor(path), path == "-" ? "standard output" : path, text);
    case Place::kPipe: {
      const auto held = held_pipes().extract(path);
      return write_special(held.empty() ? open_pipe(path) : std::move(held.mapped()), path, text);
    }
    case Place::kSpecial:
      return write_special(UniqueFd(::open(path.c_str(), O_WRONLY | O_CLOEXEC)), path, text);
    case Place::kNew:
    case Place::kFile:
      break;
  }
  const std::string file = followed(path);
  const auto [fd, temporary] = open_neighbour(file);
  bool kept = false;
  try {
    write_or_throw(fd.get(), path, text);
    if (::fsync(fd.get()) != 0) cannot_write(path, errno);
    try {
      check_still_replaceable(path);
    } catch (const UsageError& refusal) {
      kept = true;
      throw UsageError(refusal.what(), "the result is in " + temporary);
    }
    if (::rename(temporary.c_str(), file.c_str()) != 0) cannot_write(path, errno);
  } catch (...) {
    if (!kept) ::unlink(temporary.c_str());
    throw;
  }
}

void check_writable(const std::string& path) {
  switch (place_of(path)) {
    case Place::kDescriptor:
      return;
    case Place::kPipe:
      held_pipes()[path] = open_pipe(path);
      return;
    case Place::kSpecial: {
      const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
      if (!fd) cannot_write(path, errno);
      return;
    }
    case Place::kNew:
    case Place::kFile:
      ::unlink(open_neighbour(followed(path)).second.c_str());
  }
}

Json read_json_file(const std::string& path) {
  try {
    return parse_strict_json(read_input_file(path));
  } catch (const JsonTextError& failure) {
    throw UsageError(fmt::format("{} {}", path, failure.what()), "give a file that zerotax wrote");
  }
}

}  // namespace zerotax
