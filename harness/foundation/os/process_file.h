#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "os/regular_file.h"
#include "os/unique_fd.h"

namespace zerotax {

/// A file that a process has mapped, in the kernel's description.
struct MappedFile {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string name;
  std::uint64_t inode = 0;   ///< 0: unknown
  std::uint64_t device = 0;  ///< 0: unknown
};

/// Opens a mapped file for reading. Root opens the mapping itself. Otherwise the file is opened by name, in the root
/// folder of the process (which may be in a container) or in ours. Returns nothing unless a regular file with this
/// inode and device is found: in its own namespace, a process may put anything at the name. A name never leads to a
/// file that the process itself may not open.
UniqueFd open_mapped_file(pid_t pid, const MappedFile& file);

/// The root folders to which a name in the process may refer: the process's own, while it lives, and ours.
std::vector<UniqueFd> root_folders(pid_t pid);

/// Keeps mapped files open that are read later: by then another file may have the name, and the process may have ended.
/// Opens files as open_mapped_file() does, and closes them when this object ends.
class ProcessFiles {
 public:
  /// A path by which the file can be read; empty if the file is not found, or too many files are open.
  std::string find(pid_t pid, const MappedFile& file);

 private:
  std::map<FileId, UniqueFd> open_;
};

}  // namespace zerotax
