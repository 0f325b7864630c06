#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "os/regular_file.h"
#include "os/unique_fd.h"

namespace zerotax {

/// A file that a process has mapped, as described by the kernel.
struct MappedProcessFile {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string name;
  std::uint64_t inode = 0;   ///< 0 if unknown
  std::uint64_t device = 0;  ///< 0 if unknown
};

/// Opens a mapped file for reading. Root opens the mapping itself. Otherwise the file is opened by name, in the root
/// folder of the process (which may be in a container) or in our own. Returns nothing unless a regular file with this
/// inode and device is found. (In its own namespace, a process may put any file at the name.) A name never leads to a
/// file that the process itself may not open.
UniqueFd open_mapped_file(pid_t pid, const MappedProcessFile& file);

/// Returns the root folders to which a name in the process may refer: the process's own root folder, while the process
/// lives, and ours.
std::vector<UniqueFd> root_folders(pid_t pid);

/// Keeps mapped files open for later reading, because another file may get the name, or the process may end. Opens
/// files like open_mapped_file(), and closes them when this object ends.
class ProcessFiles {
 public:
  /// Returns a path for reading the file, or "" if the file is not found or too many files are open.
  std::string find(pid_t pid, const MappedProcessFile& file);

 private:
  std::map<FileId, UniqueFd> open_;
};

}  // namespace zerotax
