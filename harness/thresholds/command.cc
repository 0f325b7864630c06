#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/size.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "core/document.h"
#include "core/output_file.h"
#include "core/output_paths.h"
#include "thresholds/map.h"
#include "thresholds/session.h"
#include "thresholds/table.h"

namespace zerotax::thresholds {
namespace {

constexpr const char* kExamples =
    "  zerotax thresholds --allocator glibc --allocator largecache\n"
    "  zerotax thresholds --allocator jemalloc --touch 1 --thread main --from 1MiB --to 16MiB --grid 8\n"
    "  zerotax thresholds --allocator mine=./libmine.so --json thresholds.json\n"
    "  zerotax thresholds --read old.json --json thresholds.json\n";

struct Options {
  MeasureOptions measure;
  std::string from = "16KiB";
  std::string to = "2GiB";
  unsigned grid = 2;
  std::string read;
  std::string json;
  bool has_range = false;  ///< --from, --to or --grid was given
};

/// What an earlier version wrote, with what this one says of it.
ExitStatus judge_again(const Options& options) {
  const MeasureOptions& measure = options.measure;
  if (options.has_range || !measure.allocators.empty() || !measure.env.empty() || !measure.touches.empty() ||
      !measure.threads.empty()) {
    throw UsageError("--read measures nothing", "leave out the options that say what to search");
  }
  check_outputs({{"--json", options.json}}, {{"--read", options.read}});
  Json document = read_document(options.read, "thresholds", "give a file of zerotax thresholds --json");
  add_map(document);
  if (!options.json.empty()) write_file(options.json, json_text(document));
  if (options.json != "-") fmt::print("{}\n", document["sentence"].get<std::string>());
  return ExitStatus::kDone;
}

ExitStatus thresholds(const Options& options) {
  options.measure.check();
  if (!options.read.empty()) return judge_again(options);
  const std::uint64_t from = parse_size(options.from);
  const std::uint64_t to = parse_size(options.to);
  if (to < from) throw UsageError(fmt::format("--from {} is above --to {}", options.from, options.to), "swap them");
  if (options.grid < 1 || options.grid > 1024) {
    throw UsageError(fmt::format("invalid --grid {}", options.grid), "give 1 to 1024 sizes per octave");
  }
  check_outputs({{"--json", options.json}}, library_inputs(options.measure.allocators));
  PlanAxes axes{{"calloc_loop"}, {from, to}, options.measure.touches, options.measure.threads};
  if (axes.touches.empty()) axes.touches = {0, 0.01, 1};
  if (axes.threads.empty()) axes.threads = {"main", "worker"};
  check_axes(axes);
  Plan plan;
  plan.timeout_s = options.measure.timeout_s;
  plan.allocators = resolve_allocators(options.measure.allocators, options.measure.env);

  ThresholdSession session(std::move(plan), {from, to, options.grid, axes.touches, axes.threads});
  if (session.run() != 0) fmt::print(stderr, "zerotax: interrupted: showing only finished searches\n");
  const Json json = session.json();
  if (!options.json.empty()) write_file(options.json, json_text(json));
  if (options.json != "-") {
    fmt::print("{}\n{} probes, each in a process of its own\n", thresholds_text(session.lanes()),
               json["probes"].get<std::size_t>());
  }
  const auto& lanes = session.lanes();
  const bool failed =
      std::any_of(lanes.begin(), lanes.end(), [](const auto& lane) { return !failure_of(lane).empty(); });
  return failed ? ExitStatus::kFinding : ExitStatus::kDone;
}

const Subcommand command(
    "thresholds", "find every size at which an allocator changes behaviour, to the byte", kExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      options->measure.add_allocators(arguments);
      options->measure.add_touch_and_thread(arguments, "0, 0.01 and 1", "both");
      const Argument from = arguments.option("--from", options->from, "smallest size").with_default();
      const Argument to = arguments.option("--to", options->to, "largest size").with_default();
      const Argument grid = arguments
                                .option("--grid", options->grid,
                                        "sizes an octave to look at first: a change that is undone before the next "
                                        "of them is not found")
                                .with_default();
      arguments
          .option(
              "--read", options->read,
              "measure nothing: judge this earlier file of --json again, and write it by --json with what the figures "
              "and the page say of it")
          .path();
      arguments.option("--json", options->json, "write the thresholds to this file (- is standard output)").path();
      return [options, from, to, grid] {
        options->has_range = from.given() || to.given() || grid.given();
        return thresholds(*options);
      };
    });

}  // namespace
}  // namespace zerotax::thresholds
