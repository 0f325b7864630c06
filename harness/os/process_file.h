#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "os/regular_file.h"
#include "os/unique_fd.h"

namespace zerotax {

/// A file that a process has mapped, as the kernel describes it.
struct MappedFile {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string name;
  std::uint64_t inode = 0;   ///< 0: not known
  std::uint64_t device = 0;  ///< 0: not known
};

/// Opens it for reading: as the mapping itself, which is root's, or by its name in the root folder of the process
/// (which may be in a container), or in ours. Nothing if there is no regular file of this inode and device at any of
/// them: a process may lay whatever it likes at the name, in its own namespace. A name leads to no file that the
/// process itself may not open.
UniqueFd open_mapped_file(pid_t pid, const MappedFile& file);

/// The root folders in which a name of the process may be meant: its own, while it lives, and ours.
std::vector<UniqueFd> root_folders(pid_t pid);

/// As open_mapped_file(), of files that must be read later, as long as this lives: until then another file may have the
/// name, and the process may have ended.
class ProcessFiles {
 public:
  /// A path by which the file can be read; empty if there is none, or too many are open.
  std::string find(pid_t pid, const MappedFile& file);

 private:
  std::map<FileId, UniqueFd> open_;
};

}  // namespace zerotax
