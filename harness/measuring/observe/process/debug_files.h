#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <functional>

#include "os/helper_process.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Asks FileReader, which may open files, for a debug file. Returns nothing if there is no debug file
/// (ReadAnswer::kDebugFile).
using AskForFile = std::function<UniqueFd(const MessageWriter& question)>;
void set_ask_for_file(AskForFile ask);

/// Stores the number with which messages refer to the file of a module.
void set_file_number(Dwfl_Module* module, std::uint32_t number);
std::uint32_t file_number(Dwfl_Module* module);

/// Finds the debug file of a module, as a callback of libdwfl. Replaces dwfl_standard_find_debuginfo, which opens files
/// itself. A file is accepted only if its build-id or its checksum is right.
int find_debug_file(Dwfl_Module* module, void** data, const char* module_name, Dwarf_Addr base, const char* file_name,
                    const char* link, GElf_Word checksum, char** found_name);

}  // namespace zerotax
