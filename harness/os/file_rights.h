#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace zerotax {

/// As whom a process opens files.
struct FileUser {
  uid_t user = 0;
  gid_t group = 0;
};

/// That of a process: by its status, for /proc/PID itself belongs to root where a process hides its memory (prctl(2),
/// PR_SET_DUMPABLE). Nothing if there is no such process.
std::optional<FileUser> file_user(pid_t pid);

/// As long as it lives, this thread opens files with the rights of another user instead of root's: a path that the user
/// chose leads to no file that the user could not open. No effect unless we are root, and the user is not.
class FileRights {
 public:
  explicit FileRights(const FileUser& user);
  ~FileRights();
  FileRights(const FileRights&) = delete;
  FileRights& operator=(const FileRights&) = delete;

  /// False if the kernel refused: then no path of the user's may be opened.
  explicit operator bool() const { return limited_; }

 private:
  bool limited_ = true;
  bool changed_ = false;
  gid_t group_ = 0;
  std::vector<gid_t> groups_;
};

}  // namespace zerotax
