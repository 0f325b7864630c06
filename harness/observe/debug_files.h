#pragma once

#include <elfutils/libdwfl.h>
#include <sys/types.h>

#include <string>

#include "os/regular_file.h"

namespace zerotax {

/// A program file whose debug information is looked for.
struct FileOrigin {
  pid_t pid = 0;     ///< that has it mapped; 0: none that runs
  std::string name;  ///< as that process calls it, without links
  FileId id{};       ///< of the file itself
};

/// Where a module's file comes from. It must live as long as the module.
void set_origin(Dwfl_Module* module, const FileOrigin& origin);

/// Finds no program file: every module is reported with its own. A callback of libdwfl.
int find_no_program(Dwfl_Module* module, void** origin, const char* module_name, Dwarf_Addr base, char** found_name,
                    Elf** found);

/// Finds the file of a module's debug information. dwfl_standard_find_debuginfo opens, and reads to its end, whatever a
/// file names. This callback looks by build-id among the system's (/usr/lib/debug), and by .gnu_debuglink beside the
/// file, in the folder .debug there, and among the system's. Beside the file it has the rights of the process's user.
/// It takes only a file with the right build-id, or the right checksum.
int find_debug_file(Dwfl_Module* module, void** origin, const char* module_name, Dwarf_Addr base, const char* file_name,
                    const char* link, GElf_Word checksum, char** found_name);

}  // namespace zerotax
