#pragma once

#include <optional>
#include <string>

#include "cli/arguments.h"
#include "run/fleet/fleet.h"

namespace zerotax {

/// Adds --on, which chooses this host or a virtual machine, to a command that has no FleetOptions.
void add_machine_option(Arguments& arguments);

/// The values that a shell offers for --on if the command cannot use a cluster.
std::vector<std::string> machine_places();

/// Runs the command line, without --on, in the virtual machine that --on names. Returns the command's exit status, or
/// nothing if --on names no virtual machine. Throws the errors of machine::parse_place and machine::run_in_machine.
std::optional<int> run_on_machine(CLI::App& command);

/// --on of a command that can measure on a cluster: local, vm:RELEASE, or slurm[,shards=N][,--OPTION of sbatch].
class FleetOptions {
 public:
  void add(Arguments& arguments);

  /// Throws UsageError for invalid words and for options that sbatch refuses, and MachineError if Slurm is not
  /// installed. A `resumed` run already has its shards, so shards= is refused. Must be called before any file is
  /// created.
  [[nodiscard]] fleet::Place place(bool resumed = false) const;
  /// Whether --on names a place other than this host.
  [[nodiscard]] bool given() const { return on_ != "local"; }

 private:
  std::string on_ = "local";
};

}  // namespace zerotax
