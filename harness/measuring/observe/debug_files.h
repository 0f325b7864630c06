#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "os/regular_file.h"
#include "os/unique_fd.h"

namespace zerotax {

/// A program file that needs debug information.
struct FileOrigin {
  pid_t pid = 0;     ///< a process that has the file mapped; 0 if no such process runs
  std::string name;  ///< path of the file in that process, without symbolic links
  FileId id{};       ///< device and inode of the program file
};

/// A separate file of debug information that FileReader's process asks for.
struct DebugFile {
  bool shared = false;   ///< whether the wanted file is shared by several debug files (dwz(1)). Shared files are only
                         ///< in /usr/lib/debug.
  std::string build_id;  ///< build-id in hexadecimal, the same for program and debug file; empty if there is none
  std::string link;      ///< name of the debug file from .gnu_debuglink; empty if there is none
};

/// Opens the next regular ELF file that may contain the debug information, after skipping `skip` candidates. Returns
/// nothing if there are no more candidates. FileReader's process decides whether a candidate is the right file.
///
/// Candidates are searched by build-id among the system's files (/usr/lib/debug), and then by name. By name, the
/// program file's folder is searched first, then its folder .debug, and then the system's files. Files beside the
/// program file are opened with the rights of the process's user.
UniqueFd open_debug_file(const FileOrigin& origin, const DebugFile& debug, std::uint64_t skip);

}  // namespace zerotax
