#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <functional>

#include "os/message.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Asks whoever may open files for one, or nothing (ReadAnswer::kDebugFile).
using AskForFile = std::function<UniqueFd(const MessageWriter& question)>;
void set_ask_for_file(AskForFile ask);

/// Says which file a module is of, by its number in messages.
void set_file_number(Dwfl_Module* module, std::uint32_t number);
std::uint32_t file_number(Dwfl_Module* module);

/// Finds the file of a module's debug information, in place of dwfl_standard_find_debuginfo, which opens files by
/// itself. It is taken only if its build-id, or its checksum, is right. A callback of libdwfl.
int find_debug_file(Dwfl_Module* module, void** data, const char* module_name, Dwarf_Addr base, const char* file_name,
                    const char* link, GElf_Word checksum, char** found_name);

}  // namespace zerotax
