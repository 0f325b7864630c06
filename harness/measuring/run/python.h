#pragma once

#include <optional>
#include <string>
#include <vector>

#include "os/child.h"

namespace zerotax {

/// Runs python with these arguments, and captures its output (run/helper_program.h).
ChildResult run_python(const std::string& python, const std::vector<std::string>& arguments);

/// A python that can import all of the modules: `python3` on PATH (which may be a private build without Debian's
/// modules), else /usr/bin/python3. Nothing if neither can.
std::optional<std::string> find_python(const std::vector<std::string>& modules);

/// A folder of the source tree that this was built from, or share/zerotax/<name> of an installed tree; empty if it has
/// no such file.
std::string folder_of_scripts(const std::string& name, const std::string& source_path, const std::string& file);

}  // namespace zerotax
