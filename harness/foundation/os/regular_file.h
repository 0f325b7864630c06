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

/// Which links of a path are followed.
enum class Links {
  kAll,         ///< all links, as open(2) does: for a path that we chose
  kInsideRoot,  ///< links within the folder, as if the folder were the root folder
  kNone,
};

/// Finds the file at a path without opening it (open(2), O_PATH). `folder` is as for openat(2). With kInsideRoot and
/// kNone it is a root folder that no part of the path leaves.
UniqueFd find_path(int folder, const std::string& path, Links links);

/// A regular file, open for reading, or the reason why it is not open. The reason is empty if the file does not exist.
struct RegularFile {
  UniqueFd fd;
  std::string why;

  explicit operator bool() const { return static_cast<bool>(fd); }
};

/// Opens a regular file of at most `most_bytes`. Nothing else is ever opened, because another user may have chosen the
/// path: a pipe or a lease would delay us, and opening a device may have an effect. `folder`, `links`: as for
/// find_path().
RegularFile open_regular_file(int folder, const std::string& path, Links links, std::uint64_t most_bytes);

/// Opens a program or library in the same way, by a path that we chose.
UniqueFd open_program_file(const std::string& path);

/// The identity of a file, unique as long as the file exists.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;

  auto operator<=>(const FileId&) const = default;  // NOLINT(modernize-use-nullptr): its own comparison with 0
  [[nodiscard]] bool known() const { return inode != 0; }
};
/// The identity of an open file; unknown if the descriptor is invalid.
FileId file_id(int fd);
/// The identity of the file at a path, following all links. The file is not opened.
FileId file_id(const std::string& path);
/// The identity of the file at a path below a root folder, following no links. The file is not opened.
FileId file_id(int root, const std::string& path);

/// The user with whose rights a process opens files.
struct FileUser {
  uid_t user = 0;
  gid_t group = 0;
};

/// The user of a process, read from its status. The owner of /proc/PID does not serve, because it is root if a process
/// hides its memory (prctl(2), PR_SET_DUMPABLE). Returns nothing if the process does not exist.
std::optional<FileUser> file_user(pid_t pid);

/// While this object lives, its thread opens files with another user's rights instead of root's. So a path that the
/// user chose leads to no file that the user could not open. No effect unless we are root and the user is not.
class FileRights {
 public:
  explicit FileRights(const FileUser& user);
  ~FileRights();
  FileRights(const FileRights&) = delete;
  FileRights& operator=(const FileRights&) = delete;

  /// False if the kernel refused the change: then no path that the user chose may be opened.
  explicit operator bool() const { return limited_; }

 private:
  bool limited_ = true;
  bool changed_ = false;
  gid_t group_ = 0;
  std::vector<gid_t> groups_;
};

/// Whether only this user, root, or the user who called sudo can have written a file. False if the file does not exist.
bool is_of_trusted_user(const std::string& path);

/// Writes all of it, in as many pieces as it takes. False, with errno, if that fails: some of it may be written then.
bool write_all(int fd, std::string_view bytes);

}  // namespace zerotax
