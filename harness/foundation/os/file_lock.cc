#include "os/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "base/lines.h"
#include "os/clock.h"
#include "os/process_info.h"

namespace zerotax {
namespace {

/// Returns the PID of the holder of this file's lock according to a line of /proc/locks, or 0. Source: proc(5).
pid_t holder_in(const std::string& line, const struct stat& file) {
  int pid = 0;
  unsigned major_number = 0;
  unsigned minor_number = 0;
  std::uint64_t inode = 0;
  if (std::sscanf(line.c_str(), "%*d: FLOCK %*s WRITE %d %x:%x:%" SCNu64, &pid, &major_number, &minor_number, &inode) !=
      4) {
    return 0;
  }
  return inode == file.st_ino && makedev(major_number, minor_number) == file.st_dev ? pid : 0;
}

namespace fs = std::filesystem;

constexpr mode_t kPermissions = 07777;

std::string lock_file(const std::string& folder) { return folder + "/lock"; }

UniqueFd make_file(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

/// Returns the paths in a folder, or nothing if the folder cannot be listed.
std::optional<std::vector<std::string>> entries_of(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure); !failure && entry != fs::end(entry); entry.increment(failure)) {
    paths.push_back(entry->path().string());
  }
  if (failure) return std::nullopt;
  return paths;
}

/// Locks a folder, and returns the lock. Returns an empty descriptor if the folder has no lock file, or a living
/// process holds the lock.
UniqueFd lock_of_dead(const std::string& folder) {
  UniqueFd lock(::open(lock_file(folder).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  // The previous holder may have removed the folder meanwhile, and another process may have made one with the same
  // name.
  if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 || ::fstat(lock.get(), &status) != 0 ||
      !S_ISREG(status.st_mode) || status.st_nlink == 0) {
    lock.reset();
  }
  return lock;
}

}  // namespace

LockResult try_lock(int fd) {
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    return errno == EWOULDBLOCK ? LockResult::kHeld : LockResult::kNoLocks;
  }
  return LockResult::kTaken;
}

std::string lock_holder(int fd) {
  struct stat file {};
  std::ifstream locks("/proc/locks");
  if (::fstat(fd, &file) != 0) file = {};
  for (std::string line; std::getline(locks, line);) {
    const pid_t pid = holder_in(line, file);
    const auto facts = pid > 0 ? process_facts(pid) : std::nullopt;
    if (!facts) continue;
    constexpr std::size_t kLongest = 200;
    const std::string command = first_characters(fmt::format("{}", fmt::join(process_command(pid), " ")), kLongest);
    return fmt::format("process {} ({}, since {})", pid, command, utc_text(facts->started_s));
  }
  return "another process";
}

UniqueFd lock_folder(const std::string& folder) {
  const std::string path = folder + "/new";
  UniqueFd lock = make_file(path);
  if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 || ::rename(path.c_str(), lock_file(folder).c_str()) != 0) {
    const int reason = errno;
    ::unlink(path.c_str());
    lock.reset();
    errno = reason;
  }
  return lock;
}

void remove_locked_folder(const std::string& folder) {
  const std::string lock = lock_file(folder);
  const auto entries = entries_of(folder);
  // Listing the folder needs a descriptor. A process without free descriptors leaves the folder for the next sweep.
  if (!entries) return;
  std::error_code ignored;
  for (const std::string& path : *entries) {
    if (path != lock) fs::remove_all(path, ignored);
  }
  ::unlink(lock.c_str());
  // Processes that a killed command started may still write here, or remove their own files. The next sweep removes the
  // remaining files.
  if (::rmdir(folder.c_str()) != 0) make_file(lock);
}

void remove_dead_folders(const std::string& parent,
                         const std::function<bool(const std::string& name, mode_t permissions)>& is_ours) {
  for (const std::string& folder : entries_of(parent).value_or(std::vector<std::string>())) {
    struct stat status {};
    if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() ||
        !is_ours(fs::path(folder).filename().string(), status.st_mode & kPermissions)) {
      continue;
    }
    const UniqueFd lock = lock_of_dead(folder);
    if (lock) remove_locked_folder(folder);
  }
}

}  // namespace zerotax
