#pragma once

#include <functional>
#include <string>

#include "cli/arguments.h"

namespace zerotax {

/// What main of a program of its own does that has no subcommands, such as a benchmark: `add` declares its options,
/// then `run` does the work and returns the exit status. A mistake on the command line, and an Error of the work, are
/// told on one line after the program's name. Returns the exit status of the whole.
int standalone_main(const std::string& name, const std::string& description, int argc, char** argv,
                    const std::function<void(Arguments)>& add, const std::function<int()>& run);

}  // namespace zerotax
