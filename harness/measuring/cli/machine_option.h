#pragma once

#include <optional>

#include "cli/arguments.h"

namespace zerotax {

/// Adds --on to a command that has none of its own (FleetOptions): here, or in a virtual machine.
void add_machine_option(Arguments& arguments);

/// The places that a shell offers for --on, of those that need no cluster.
std::vector<std::string> machine_places();

/// Runs the command line in the virtual machine that its --on names, without that option. Returns its exit status;
/// nothing if --on names none. Throws as machine::parse_place and machine::run_in_machine.
std::optional<int> run_on_machine(CLI::App& command);

}  // namespace zerotax
