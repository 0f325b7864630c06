#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "os/regular_file.h"
#include "os/unique_fd.h"

namespace zerotax {

/// A program file whose debug information is looked for.
struct FileOrigin {
  pid_t pid = 0;     ///< the process that has the file mapped; 0: no running process
  std::string name;  ///< the file's path in that process, without links
  FileId id{};       ///< of the file itself
};

/// A separate file of debug information, as the process of FileReader asks for it.
struct DebugFile {
  bool shared = false;   ///< the file that several files of debug information share (dwz(1)), which only the system has
  std::string build_id;  ///< the build-id in hexadecimal, the same in both files; empty: none
  std::string link;      ///< the file's name, from .gnu_debuglink; empty: none
};

/// Opens the next regular ELF file that may hold the debug information, after passing over `skip` candidates.
/// Candidates are found by build-id among the system's files (/usr/lib/debug), and by name beside the program file, in
/// the folder .debug there, and among the system's files. Files beside the program file are opened with the rights of
/// the process's user. Returns nothing if there are no more candidates. The process of FileReader decides whether a
/// candidate is the right file.
UniqueFd open_debug_file(const FileOrigin& origin, const DebugFile& debug, std::uint64_t skip);

}  // namespace zerotax
