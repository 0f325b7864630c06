#include "cli/fleet_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "cli/machine_option.h"
#include "run/fleet/shards.h"
#include "run/fleet/slurm.h"

namespace zerotax {

void FleetOptions::add(Arguments& arguments) {
  arguments
      .option(
          "--on", on_,
          "where to measure: local; slurm: as an array of jobs, on the nodes of a cluster; or in a virtual machine, "
          "as in vm:bookworm (`zerotax help on`)")
      .shown_as("PLACE")
      .word()
      .completed_by([] {
        std::vector<std::string> places = machine_places();
        places.emplace_back("slurm");
        return places;
      })
      .with_default();
  of_slurm_ = {
      arguments
          .option("--shards", shards_,
                  "jobs to cut the work into (default: of two minutes each, but at least 8; at most 500)")
          .shown_as("N"),
      arguments.option("--sbatch", sbatch_, "further option of sbatch, as in --sbatch=--partition=bench (repeatable)")
          .shown_as("OPTION")
          .repeatable()
          .word()};
}

bool FleetOptions::given() const {
  return on_ != "local" ||
         std::any_of(of_slurm_.begin(), of_slurm_.end(), [](const Argument& option) { return option.given(); });
}

fleet::Place FleetOptions::place() const {
  const bool slurm = on_ == "slurm";
  for (const Argument& option : of_slurm_) {
    if (slurm || !option.given()) continue;
    throw UsageError(fmt::format("{} has no effect without --on slurm", option.name()),
                     fmt::format("add --on slurm, or leave out {}", option.name()));
  }
  if (of_slurm_.front().given() && (shards_ < 1 || shards_ > static_cast<std::int64_t>(fleet::kMostShards))) {
    throw UsageError(fmt::format("invalid --shards {}", shards_), fmt::format("give 1 to {}", fleet::kMostShards));
  }
  for (const std::string& option : sbatch_) {
    if (option.starts_with('-')) continue;
    throw UsageError(fmt::format("invalid --sbatch '{}'", option),
                     "give one option with its value, as in --sbatch=--partition=bench");
  }
  fleet::Place place{slurm, static_cast<std::size_t>(shards_), sbatch_};
  if (slurm) fleet::check_slurm(place);
  return place;
}

}  // namespace zerotax
