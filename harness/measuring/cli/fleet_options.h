#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "run/fleet/fleet.h"

namespace zerotax {

/// --on, --shards and --sbatch: where a command measures.
class FleetOptions {
 public:
  void add(Arguments& arguments);

  /// Throws UsageError for options of a fleet without one, and for those that sbatch refuses; MachineError if Slurm is
  /// not here. To be called before anything is made.
  [[nodiscard]] fleet::Place place() const;
  /// Whether any of them was given.
  [[nodiscard]] bool given() const;

 private:
  std::string on_ = "local";
  std::int64_t shards_ = 0;
  std::vector<std::string> sbatch_;
  std::vector<Argument> of_slurm_;  ///< those that mean nothing here
};

}  // namespace zerotax
