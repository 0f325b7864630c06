#include "os/perf_map_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "os/process_info.h"
#include "os/regular_file.h"

namespace zerotax {
namespace {

/// Maximum number of restarts of the file. Without a limit, the process that writes the file could make zerotax read
/// the whole file again and again.
constexpr unsigned kMostBegun = 16;

/// Returns the PID that the process itself sees: the last in its list of PIDs (pid_namespaces(7)).
pid_t own_number(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("NSpid:")) continue;
    std::istringstream numbers(line.substr(6));
    for (pid_t number = 0; numbers >> number;) pid = number;
  }
  return pid;
}

}  // namespace

PerfMapFile::PerfMapFile(pid_t pid, std::int64_t not_before_s)
    : user_{::geteuid(), ::getegid()}, not_before_s_(not_before_s) {
  name_ = fmt::format("perf-{}.map", own_number(pid));
  constexpr int kFolder = O_PATH | O_DIRECTORY | O_CLOEXEC;
  const auto facts = process_facts(pid);
  if (!facts) {
    const auto own = process_facts(::getpid());
    if (not_before_s_ == 0 && own) not_before_s_ = own->started_s;
    folder_ = UniqueFd(::open("/tmp", kFolder));
    return;
  }
  user_ = file_user(pid).value_or(user_);
  not_before_s_ = facts->started_s;
  const UniqueFd root(::open(fmt::format("/proc/{}/root", living_thread(pid)).c_str(), kFolder));
  // The process has ended but is not reaped.
  if (!root && errno == ENOENT) folder_ = UniqueFd(::open("/tmp", kFolder));
  const FileRights rights(user_);
  if (root && rights) folder_ = find_path(root.get(), "/tmp", Links::kInsideRoot);
}

bool PerfMapFile::open() {
  if (fd_) return true;
  if (!folder_ || !problem_.empty()) return false;
  RegularFile file;
  {
    const FileRights rights(user_);
    if (rights) file = open_regular_file(folder_.get(), name_, Links::kNone, UINT64_MAX);
  }
  problem_ = file.why;
  struct stat status {};
  if (!file || ::fstat(file.fd.get(), &status) != 0) return false;
  // The file is from an earlier process with this PID. The new process may still write another file.
  if (status.st_mtim.tv_sec + 1 < not_before_s_) return false;
  if (status.st_uid != user_.user && status.st_uid != 0) {
    problem_ = fmt::format("it belongs to user {}, and the process to user {}", status.st_uid, user_.user);
  } else if ((status.st_mode & S_IWOTH) != 0) {
    problem_ = "any user may write to it";
  } else {
    fd_ = std::move(file.fd);
  }
  return static_cast<bool>(fd_);
}

PerfMapFile::Read PerfMapFile::read(std::string& text) {
  struct stat status {};
  if (!open() || ::fstat(fd_.get(), &status) != 0) return Read::kNothing;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const bool anew = size < offset_;
  if (anew && ++begun_again_ > kMostBegun) {
    problem_ = "it was restarted too often and is no longer read";
    return Read::kNothing;
  }
  if (anew) offset_ = 0;
  if (size > kMostBytes)
    problem_ = fmt::format("it is larger than {} MiB, so only its beginning is read", kMostBytes >> 20);
  const std::uint64_t end = std::min(size, kMostBytes);
  const std::size_t before = text.size();
  text.resize(before + (end - offset_));
  std::size_t at = before;
  while (at < text.size()) {
    const ssize_t got = ::pread(fd_.get(), text.data() + at, text.size() - at, static_cast<off_t>(offset_));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    at += static_cast<std::size_t>(got);
    offset_ += static_cast<std::uint64_t>(got);
  }
  text.resize(at);
  if (anew) return Read::kAnew;
  return at > before ? Read::kMore : Read::kNothing;
}

}  // namespace zerotax
