#pragma once

#include <string>

#include "cli/arguments.h"

namespace zerotax {

/// --json of a command that writes a document for each sample, a line each.
Argument add_json_lines(Arguments& arguments, std::string& path);

}  // namespace zerotax
