#pragma once

#include <optional>
#include <string>

#include "cli/arguments.h"
#include "run/fleet/fleet.h"

namespace zerotax {

/// Adds --on to a command that has none of its own (FleetOptions): here, or in a virtual machine.
void add_machine_option(Arguments& arguments);

/// The places that a shell offers for --on, of those that need no cluster.
std::vector<std::string> machine_places();

/// Runs the command line in the virtual machine that its --on names, without that option. Returns its exit status;
/// nothing if --on names none. Throws as machine::parse_place and machine::run_in_machine.
std::optional<int> run_on_machine(CLI::App& command);

/// --on of a command that can measure on a cluster: local, vm:RELEASE, or slurm[,shards=N][,--OPTION of sbatch].
class FleetOptions {
 public:
  void add(Arguments& arguments);

  /// Throws UsageError for invalid words and for options that sbatch refuses, and MachineError if Slurm is not
  /// installed. Call it before anything is made. Refuses shards= if the run is `resumed`, because the run has its
  /// shards already.
  [[nodiscard]] fleet::Place place(bool resumed = false) const;
  /// Whether --on names another place than this host.
  [[nodiscard]] bool given() const { return on_ != "local"; }

 private:
  std::string on_ = "local";
};

}  // namespace zerotax
