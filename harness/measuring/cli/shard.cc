#include <fmt/format.h>

#include <cstdint>
#include <memory>

#include "base/error.h"
#include "cli/subcommand.h"
#include "run/fleet/fleet.h"
#include "run/interrupt.h"

namespace zerotax {
namespace {

struct Options {
  std::string folder;
  std::int64_t shard = 0;
};

ExitStatus shard(const Options& options) {
  if (options.shard < 0) {
    throw UsageError(fmt::format("invalid shard {}", options.shard), "give the number of a shard, from 0 on");
  }
  if (!fleet::run_shard(options.folder, static_cast<std::size_t>(options.shard))) {
    say_interrupted("the finished points are kept");
  }
  return ExitStatus::kDone;
}

// A hidden command (no summary), called by task.sh in the tasks of --on slurm.
const Subcommand command(
    "shard", Wing::kMeasuring, "", "  zerotax shard results/full/fleet/points 3\n",
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      arguments.option("folder", options->folder, "the folder RESULTS/fleet/NAME of a run on Slurm").required().path();
      arguments.option("shard", options->shard, "number of the shard").required();
      return [options] { return shard(*options); };
    });

}  // namespace
}  // namespace zerotax
