#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace zerotax {

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

}  // namespace zerotax
