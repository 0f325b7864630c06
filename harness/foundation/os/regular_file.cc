#include "os/regular_file.h"

#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace zerotax {
namespace {

/// Finds a path component by component, without following links. Needed on systems without openat2: before Linux 5.6,
/// or in a sandbox that does not know this call.
UniqueFd handle_by_parts(int root, const std::string& path) {
  constexpr int kPart = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  std::istringstream parts(path);
  UniqueFd handle(::openat(root, ".", kPart | O_DIRECTORY));
  for (std::string part; handle && std::getline(parts, part, '/');) {
    if (part.empty() || part == ".") continue;
    // ".." is refused, because it could lead out of the root. openat finds names only in folders, so no link is
    // followed.
    handle = part == ".." ? UniqueFd() : UniqueFd(::openat(handle.get(), part.c_str(), kPart));
  }
  return handle;
}

FileId id_of(const struct stat& status) { return {status.st_dev, status.st_ino}; }

/// Opens the file that an O_PATH descriptor represents. The name is not looked up again, because another file may have
/// the name by now.
UniqueFd open_handle(int handle, int folder, const std::string& path, Links links) {
  // O_NONBLOCK is needed because the owner of a file may hold a lease on it (fcntl(2), F_SETLEASE).
  constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  UniqueFd opened(::open(fmt::format("/proc/self/fd/{}", handle).c_str(), kFlags));
  // Without /proc, a path that we chose is opened directly.
  if (!opened && errno == ENOENT && links == Links::kAll) {
    opened = UniqueFd(::openat(folder, path.c_str(), kFlags));
    if (file_id(opened.get()) != file_id(handle)) opened.reset();
  }
  return opened;
}

/// Sets the groups of this thread only. The C library's function would set the groups of all threads.
bool set_groups(const std::vector<gid_t>& groups) {
  return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

/// Whether this process allowed core dumps and debuggers before its first change of user. A change of user forbids core
/// dumps and debuggers (prctl(2), PR_SET_DUMPABLE).
bool could_be_dumped() {
  static const bool could = ::prctl(PR_GET_DUMPABLE) == 1;
  return could;
}

}  // namespace

UniqueFd find_path(int folder, const std::string& path, Links links) {
  if (path.empty()) return {};
  if (links == Links::kAll) return UniqueFd(::openat(folder, path.c_str(), O_PATH | O_CLOEXEC));
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  if (links == Links::kNone) {
    how.flags |= O_NOFOLLOW;
    how.resolve |= RESOLVE_NO_SYMLINKS;
  }
  UniqueFd handle(static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how)));
  if (!handle && (errno == ENOSYS || errno == EPERM)) return handle_by_parts(folder, path);
  return handle;
}

RegularFile open_regular_file(int folder, const std::string& path, Links links, std::uint64_t most_bytes) {
  const UniqueFd handle = find_path(folder, path, links);
  struct stat status {};
  if (!handle || ::fstat(handle.get(), &status) != 0) return {};
  if (S_ISLNK(status.st_mode)) return {{}, "it is a link"};
  if (!S_ISREG(status.st_mode)) return {{}, "it is not a regular file"};
  if (static_cast<std::uint64_t>(status.st_size) > most_bytes) {
    return {{}, fmt::format("it is larger than {} MiB", most_bytes >> 20)};
  }
  return {open_handle(handle.get(), folder, path, links), ""};
}

UniqueFd open_program_file(const std::string& path) {
  return open_regular_file(AT_FDCWD, path, Links::kAll, kMostProgramBytes).fd;
}

FileId file_id(int fd) {
  struct stat status {};
  return fd >= 0 && ::fstat(fd, &status) == 0 ? id_of(status) : FileId{};
}

FileId file_id(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? id_of(status) : FileId{};
}

FileId file_id(int root, const std::string& path) { return file_id(find_path(root, path, Links::kNone).get()); }

std::optional<FileUser> file_user(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  std::optional<uid_t> user;
  std::optional<gid_t> group;
  // The lines "Uid:" and "Gid:" have four IDs: real, effective, saved, and file system.
  const auto last = [](const std::string& line, auto& number) {
    std::istringstream words(line.substr(4));
    unsigned each = 0;
    for (int i = 0; i < 4 && words >> each; ++i) number = i == 3 ? std::optional(each) : std::nullopt;
  };
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Uid:")) last(line, user);
    if (line.starts_with("Gid:")) last(line, group);
  }
  if (!user || !group) return std::nullopt;
  return FileUser{*user, *group};
}

FileRights::FileRights(const FileUser& user) {
  if (::geteuid() != 0 || user.user == 0) return;
  const int count = ::getgroups(0, nullptr);
  groups_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  limited_ = count >= 0 && ::getgroups(count, groups_.data()) == count && set_groups({});
  if (!limited_) return;
  changed_ = true;
  could_be_dumped();
  group_ = static_cast<gid_t>(::setfsgid(user.group));
  // At the change of user, the thread loses root's rights over files (capabilities(7)).
  ::setfsuid(user.user);
  constexpr auto kNobody = static_cast<uid_t>(-1);  // this call changes nothing, and returns the current user or group
  limited_ =
      static_cast<gid_t>(::setfsgid(kNobody)) == user.group && static_cast<uid_t>(::setfsuid(kNobody)) == user.user;
}

FileRights::~FileRights() {
  if (!changed_) return;
  ::setfsuid(0);
  ::setfsgid(group_);
  static_cast<void>(set_groups(groups_));
  if (could_be_dumped()) ::prctl(PR_SET_DUMPABLE, 1);
}

bool is_of_trusted_user(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || (status.st_mode & S_IWOTH) != 0) return false;
  if (status.st_uid == 0 || status.st_uid == ::geteuid()) return true;
  const char* caller = ::geteuid() == 0 ? std::getenv("SUDO_UID") : nullptr;
  return caller != nullptr && std::to_string(status.st_uid) == caller;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace zerotax
