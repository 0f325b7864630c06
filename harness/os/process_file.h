#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "os/unique_fd.h"

namespace zerotax {

/// Where the file that a process has mapped can be read: by its name, in the root folder of the process (which may be
/// in a container), or as the mapping itself (root's, also of a file that was deleted or replaced since). Empty if
/// under none of these there is the file of this inode. `name`: as the kernel calls it. `inode` 0: whatever has the
/// name.
std::string process_file(pid_t pid, std::uint64_t begin, std::uint64_t end, const std::string& name,
                         std::uint64_t inode);

/// Opens it, if it is still the file of this inode (0: any): another may have taken its name since it was found. Else
/// nothing.
UniqueFd open_file_of(const std::string& path, std::uint64_t inode);

/// As process_file(), of files that must be read later, as long as this lives: they are opened, for until then another
/// file may have the name, and the process may have ended.
class ProcessFiles {
 public:
  std::string find(pid_t pid, std::uint64_t begin, std::uint64_t end, const std::string& name, std::uint64_t inode);

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, UniqueFd> open_;  ///< by device and inode
};

}  // namespace zerotax
