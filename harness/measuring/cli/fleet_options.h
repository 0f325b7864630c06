#pragma once

#include <string>

#include "cli/arguments.h"
#include "run/fleet/fleet.h"

namespace zerotax {

/// --on of a command that can measure on a cluster: local, vm:RELEASE, or slurm[,shards=N][,--OPTION of sbatch].
class FleetOptions {
 public:
  void add(Arguments& arguments);

  /// Throws UsageError for words that are none of those, or that sbatch refuses; MachineError if Slurm is not here. To
  /// be called before anything is made. A run that is `resumed` has its shards already.
  [[nodiscard]] fleet::Place place(bool resumed = false) const;
  /// Whether it names another place than this host.
  [[nodiscard]] bool given() const { return on_ != "local"; }

 private:
  std::string on_ = "local";
};

}  // namespace zerotax
