#pragma once

#include <string>

#include "os/unique_fd.h"

namespace zerotax {

/// A folder of what can be made again: $XDG_CACHE_HOME/zerotax/NAME, else ~/.cache/zerotax/NAME, made if it is missing.
/// Throws UsageError where there can be none. Source: the XDG Base Directory Specification.
std::string cache_folder(const std::string& name);

/// A private folder in the temporary one, removed with all that is in it at the end. When a process makes its first
/// one, it removes the folders that killed processes left there.
class TemporaryFolder {
 public:
  /// Of the name zerotax-`what`-XXXXXX. Throws MachineError if it cannot be made.
  explicit TemporaryFolder(const std::string& what);
  /// The same in another folder, for what is moved to its place there; nothing else is removed.
  TemporaryFolder(const std::string& what, const std::string& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  UniqueFd lock_;  ///< while we live (os/file_lock.h)
};

/// Removes what killed processes of this user left in `parent`: the folders zerotax-…-XXXXXX that are open to nobody
/// else and whose lock is free. A link, and a folder without a lock, is somebody else's.
void remove_dead_temporary_folders(const std::string& parent);

}  // namespace zerotax
