#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/size.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "core/output_file.h"
#include "core/output_paths.h"
#include "thresholds/session.h"
#include "thresholds/table.h"

namespace zerotax::thresholds {
namespace {

constexpr const char* kExamples =
    "  zerotax thresholds --allocator glibc --allocator largecache\n"
    "  zerotax thresholds --allocator jemalloc --touch 1 --thread main --from 1MiB --to 16MiB --grid 8\n"
    "  zerotax thresholds --case refill_loop\n"
    "  zerotax thresholds --allocator mine=./libmine.so --json thresholds.json\n";

struct Options {
  MeasureOptions measure;
  std::string case_name = kPlainCase;
  std::string from = "16KiB";
  std::string to = "2GiB";
  unsigned grid = 2;
  std::string json;
  std::optional<Argument> given_from, given_to, given_grid;

  /// What is not given depends on the case. Throws UsageError for a case whose thresholds cannot be searched.
  void take_defaults() {
    if (case_name == kPlainCase) return;
    if (case_name != kRefillCase) {
      throw UsageError(fmt::format("invalid --case '{}'", case_name),
                       fmt::format("choose: {}, {}", kPlainCase, kRefillCase));
    }
    if (!given_from->given()) from = fmt::format("{}KiB", kRefillFrom / kKiB);
    if (!given_to->given()) to = fmt::format("{}MiB", kRefillTo / kMiB);
    if (!given_grid->given()) grid = kRefillPerOctave;
    if (measure.touches.empty()) measure.touches = {1};
    if (measure.threads.empty()) measure.threads = {"main"};
  }
};

ExitStatus thresholds(Options options) {
  options.measure.check();
  options.take_defaults();
  const std::uint64_t from = parse_size(options.from);
  const std::uint64_t to = parse_size(options.to);
  if (to < from) throw UsageError(fmt::format("--from {} is above --to {}", options.from, options.to), "swap them");
  if (options.grid < 1 || options.grid > 1024) {
    throw UsageError(fmt::format("invalid --grid {}", options.grid), "give 1 to 1024 sizes per octave");
  }
  check_outputs({{"--json", options.json}}, library_inputs(options.measure.allocators));
  PlanAxes axes{{options.case_name}, {from, to}, options.measure.touches, options.measure.threads};
  if (axes.touches.empty()) axes.touches = {0, 0.01, 1};
  if (axes.threads.empty()) axes.threads = {"main", "worker"};
  check_axes(axes);
  Plan plan;
  plan.timeout_s = options.measure.timeout_s;
  plan.allocators = resolve_allocators(options.measure.allocators, options.measure.env);

  ThresholdSession session(std::move(plan), {from, to, options.grid, axes.touches, axes.threads, options.case_name});
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
      arguments
          .option("--case", options->case_name,
                  "calloc_loop, or refill_loop: where an allocator begins or ends to return memory that is freed "
                  "together (8KiB to 4MiB, 1 size per octave, all touched, main)")
          .with_default();
      options->given_from = arguments.option("--from", options->from, "smallest size").with_default();
      options->given_to = arguments.option("--to", options->to, "largest size").with_default();
      options->given_grid = arguments
                                .option("--grid", options->grid,
                                        "sizes per octave to probe first: a change that is undone before the next "
                                        "of these sizes is missed")
                                .with_default();
      arguments.option("--json", options->json, "write the thresholds to this file (- is standard output)").path();
      return [options] { return thresholds(*options); };
    });

}  // namespace
}  // namespace zerotax::thresholds
