#include "os/process_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "os/kernel_version.h"

namespace zerotax {
namespace {

/// linux/magic.h. The events of kernels before 6.18 have the inode below ("perf/core: Fix MMAP2 event device with
/// backing files"), which is not that of the name where layers lie on several file systems.
constexpr auto kOverlay = 0x794c7630;
/// As root the files of every container on the machine come by.
constexpr std::size_t kMostOpen = 256;

/// Whether a file with this status, on a file system that `find_system` looks up, is of this inode.
template <typename FindSystem>
bool is_of(const struct stat& status, std::uint64_t inode, const FindSystem& find_system) {
  if (inode == 0 || status.st_ino == inode) return true;
  if (kernel_is_at_least(6, 18)) return false;
  struct statfs system {};
  return find_system(&system) == 0 && system.f_type == kOverlay;
}

bool is_file(const std::string& path, std::uint64_t inode) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 &&
         is_of(status, inode, [&](struct statfs* system) { return ::statfs(path.c_str(), system); });
}

bool is_same(const std::string& one, const std::string& other) {
  struct stat first {};
  struct stat second {};
  return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

}  // namespace

std::string process_file(pid_t pid, std::uint64_t begin, std::uint64_t end, const std::string& name,
                         std::uint64_t inode) {
  // While it lives, its own root folder says more than a name does: another file system may have the same number.
  const std::string in_root = fmt::format("/proc/{}/root{}", pid, name);
  if (is_file(in_root, inode)) return is_same(in_root, name) ? name : in_root;
  if (is_file(name, inode)) return name;
  const std::string itself = fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, begin, end);
  return is_file(itself, inode) ? itself : "";
}

UniqueFd open_file_of(const std::string& path, std::uint64_t inode) {
  UniqueFd opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  const bool same = opened && ::fstat(opened.get(), &status) == 0 &&
                    is_of(status, inode, [&](struct statfs* system) { return ::fstatfs(opened.get(), system); });
  return same ? std::move(opened) : UniqueFd();
}

std::string ProcessFiles::find(pid_t pid, std::uint64_t begin, std::uint64_t end, const std::string& name,
                               std::uint64_t inode) {
  std::string path = process_file(pid, begin, end, name, inode);
  if (path.empty()) return path;
  UniqueFd opened = open_file_of(path, inode);
  struct stat status {};
  if (!opened || ::fstat(opened.get(), &status) != 0) return path;
  const std::pair<std::uint64_t, std::uint64_t> file{status.st_dev, status.st_ino};
  auto found = open_.find(file);
  if (found == open_.end()) {
    if (open_.size() >= kMostOpen) return path;
    found = open_.emplace(file, std::move(opened)).first;
  }
  return fmt::format("/proc/self/fd/{}", found->second.get());
}

}  // namespace zerotax
