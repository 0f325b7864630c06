#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/unique_fd.h"

namespace zerotax {

/// Maximum size of a program, library or debug file that is opened. Debian's largest debug file, Chromium's, has less
/// than 3 GiB.
inline constexpr std::uint64_t kMostProgramBytes = std::uint64_t{4} << 30;

/// Selects which links in a path are followed.
enum class Links {
  kAll,         ///< all links, like open(2), for a path that zerotax chose
  kInsideRoot,  ///< links within the folder, as if it were the root folder
  kNone,
};

/// Finds the file at a path without opening the file (open(2), O_PATH). `folder` is as for openat(2). With kInsideRoot
/// and kNone, `folder` is a root folder that the path cannot leave.
UniqueFd find_path(int folder, const std::string& path, Links links);

/// A regular file open for reading, or the reason why the file is not open. The reason is empty if the file does not
/// exist.
struct RegularFile {
  UniqueFd fd;
  std::string why;

  explicit operator bool() const { return static_cast<bool>(fd); }
};

/// Opens a regular file of at most `most_bytes`, and never any other kind of file, because another user may have chosen
/// the path. A pipe or a lease would delay zerotax, and opening a device may have an effect. `folder` and `links` are
/// as for find_path().
RegularFile open_regular_file(int folder, const std::string& path, Links links, std::uint64_t most_bytes);

/// Opens a program or library in the same way, by a path that zerotax chose.
UniqueFd open_program_file(const std::string& path);

/// The identity of a file, unique while the file exists.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;

  auto operator<=>(const FileId&) const = default;  // NOLINT(modernize-use-nullptr): its own comparison with 0
  [[nodiscard]] bool known() const { return inode != 0; }
};
/// Returns the identity of an open file, unknown if the descriptor is invalid.
FileId file_id(int fd);
/// Returns the identity of the file at a path, following all links. The file is not opened.
FileId file_id(const std::string& path);
/// Returns the identity of the file at a path below a root folder, following no links. The file is not opened.
FileId file_id(int root, const std::string& path);

/// The user with whose rights a process opens files.
struct FileUser {
  uid_t user = 0;
  gid_t group = 0;
};

/// Returns the user of a process, from its status. The owner of /proc/PID is unsuitable, because the owner is root if a
/// process hides its memory (prctl(2), PR_SET_DUMPABLE). Returns nothing if the process does not exist.
std::optional<FileUser> file_user(pid_t pid);

/// While this object lives, its thread opens files with another user's rights instead of root's. A path from the user
/// therefore opens only files that the user may open. Has no effect unless this process is root's and the user is not
/// root.
class FileRights {
 public:
  explicit FileRights(const FileUser& user);
  ~FileRights();
  FileRights(const FileRights&) = delete;
  FileRights& operator=(const FileRights&) = delete;

  /// Whether the change succeeded. If the kernel refused the change, no path that the user chose may be opened.
  explicit operator bool() const { return limited_; }

 private:
  bool limited_ = true;
  bool changed_ = false;
  gid_t group_ = 0;
  std::vector<gid_t> groups_;
};

/// Whether the file can have been written only by this user, root, or the user who called sudo. Returns false if the
/// file does not exist.
bool is_of_trusted_user(const std::string& path);

/// Writes all bytes, by as many calls of write(2) as needed. If a call fails, returns false and sets errno; a part of
/// the bytes may have been written.
bool write_all(int fd, std::string_view bytes);

}  // namespace zerotax
