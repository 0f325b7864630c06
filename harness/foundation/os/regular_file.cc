#include "os/regular_file.h"

#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

namespace zerotax {
namespace {

/// Finds a path part by part, and follows no links: for systems without openat2 (before Linux 5.6, or in a sandbox that
/// does not know it).
UniqueFd handle_by_parts(int root, const std::string& path) {
  constexpr int kPart = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  std::istringstream parts(path);
  UniqueFd handle(::openat(root, ".", kPart | O_DIRECTORY));
  for (std::string part; handle && std::getline(parts, part, '/');) {
    if (part.empty() || part == ".") continue;
    // ".." is refused; in anything but a folder, openat looks up no names.
    handle = part == ".." ? UniqueFd() : UniqueFd(::openat(handle.get(), part.c_str(), kPart));
  }
  return handle;
}

FileId id_of(const struct stat& status) { return {status.st_dev, status.st_ino}; }

/// Opens the file that a handle stands for, without looking up the name again, which may mean another file by now.
UniqueFd open_handle(int handle, int folder, const std::string& path, Links links) {
  // O_NONBLOCK, because the owner of a file may hold a lease on it (fcntl(2), F_SETLEASE).
  constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  UniqueFd opened(::open(fmt::format("/proc/self/fd/{}", handle).c_str(), kFlags));
  // If /proc is missing, a path of our own is opened directly.
  if (!opened && errno == ENOENT && links == Links::kAll) {
    opened = UniqueFd(::openat(folder, path.c_str(), kFlags));
    if (file_id(opened.get()) != file_id(handle)) opened.reset();
  }
  return opened;
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

}  // namespace zerotax
