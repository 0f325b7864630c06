#include "os/file_lock.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>

#include "base/one_line.h"
#include "os/process_info.h"
#include "os/utc.h"

namespace zerotax {
namespace {

/// The PID of the process that a line of /proc/locks names as the holder of this file's lock; 0: none. Source: proc(5).
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

}  // namespace zerotax
