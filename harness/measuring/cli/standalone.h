#pragma once

#include <functional>
#include <string>

#include "cli/arguments.h"

namespace zerotax {

/// Runs main for a program without subcommands, such as a benchmark. `add` declares the options; `run` does the work
/// and returns the exit status. Prints an error of the command line or of the work on one line that begins with the
/// program's name. Returns the program's exit status.
int standalone_main(const std::string& name, const std::string& description, int argc, char** argv,
                    const std::function<void(Arguments)>& add, const std::function<int()>& run);

}  // namespace zerotax
