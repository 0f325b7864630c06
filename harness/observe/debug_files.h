#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "os/regular_file.h"
#include "os/unique_fd.h"

namespace zerotax {

/// A program file whose debug information is looked for.
struct FileOrigin {
  pid_t pid = 0;     ///< that has it mapped; 0: none that runs
  std::string name;  ///< as that process calls it, without links
  FileId id{};       ///< of the file itself
};

/// Debug information that a program file keeps in a file of its own, as the process of FileReader asks for it.
struct DebugFile {
  bool shared = false;   ///< the one that several files of debug information share (dwz(1)), which only the system has
  std::string build_id;  ///< of either file, which is the same, in hexadecimal; empty: none
  std::string link;      ///< its name, from .gnu_debuglink; empty: none
};

/// Opens the first regular ELF file that may be it, without as many as `skip` others: by its build-id among the
/// system's (/usr/lib/debug), and by its name beside the program file, in the folder .debug there, and among the
/// system's. What is beside the file is opened with the rights of the process's user. Nothing if there is no further
/// one. Whether it is the right one is for the process of FileReader to find out.
UniqueFd open_debug_file(const FileOrigin& origin, const DebugFile& debug, std::uint64_t skip);

}  // namespace zerotax
