#pragma once

#include <string>

#include "os/unique_fd.h"

namespace zerotax {

/// Returns a folder for files that can be made again: $XDG_CACHE_HOME/zerotax/NAME, else ~/.cache/zerotax/NAME. Creates
/// the folder if it is missing. Throws UsageError if the folder cannot be created. Source: the XDG Base Directory
/// Specification.
std::string cache_folder(const std::string& name);

/// A private folder for temporary files. The destructor removes the folder with all its contents. The first
/// TemporaryFolder of a process also removes the folders that killed processes left behind.
class TemporaryFolder {
 public:
  /// Creates a folder with the name zerotax-`what`-XXXXXX. Throws MachineError if the folder cannot be created.
  explicit TemporaryFolder(const std::string& what);
  /// Creates the folder in `parent`, for files that will be moved to a final place there. Leaves folders of killed
  /// processes alone.
  TemporaryFolder(const std::string& what, const std::string& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  UniqueFd lock_;  ///< held as long as this object exists (os/file_lock.h)
};

/// Removes the folders zerotax-…-XXXXXX in `parent` that killed processes of this user left there. Only folders without
/// access for others are removed, and only if their lock is free. Links, and folders without a lock, were not made by
/// zerotax and stay.
void remove_dead_temporary_folders(const std::string& parent);

}  // namespace zerotax
