#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "base/wrap.h"
#include "cli/plot_option.h"
#include "cli/subcommand.h"
#include "core/interrupt.h"
#include "core/output_file.h"
#include "core/output_paths.h"
#include "core/results.h"
#include "os/environment.h"
#include "os/numa_nodes.h"
#include "snapshot/options.h"
#include "snapshot/sweep.h"

namespace zerotax::snapshot {
namespace {

/// Where there is no other choice: the benchmark as it is, and as it was meant.
std::vector<SnapshotAlternative> swept_alternatives(const Options& options) {
  if (options.alternatives.empty()) return chosen_alternatives({"published", "published_fixed"});
  return chosen_alternatives(options.alternatives);
}

void check_sweep_options(const Options& options) {
  const auto refuse = [](const char* option, const char* remedy) {
    throw UsageError(fmt::format("--sweep and {} do not go together", option), remedy);
  };
  if (!options.read.empty()) refuse("--read", "leave out one of them");
  if (!options.svg.empty()) refuse("--svg", "use --plot or --json");
  if (options.remedies) refuse("--remedies", "name the alternatives by --alternative");
  if (options.published) refuse("--published", "leave it out: it is what a sweep measures by default");
  if (options.measure.allocators.size() > 1) refuse("several --allocator", "give one");
}

}  // namespace

ExitStatus status_of(const Json& results) {
  const bool found = std::any_of(results.begin(), results.end(), [](const Json& result) {
    return result.at("status") != "ok" && result.at("status") != "skipped";
  });
  return found ? ExitStatus::kFinding : ExitStatus::kDone;
}

ExitStatus run_sweep_command(const Options& options) {
  check_sweep_options(options);
  options.measure.check();
  check_outputs({{"--json", options.measure.json}}, library_inputs(options.measure.allocators));
  SweepPlan plan;
  plan.repeat = options.plan.repeat;
  plan.timeout_s = options.measure.timeout_s;
  SnapshotParameters given = options.plan.parameters;
  given.array_bytes = parse_size(options.size);
  given.batch_bytes = parse_size(options.batch);
  SnapshotParameters published = options.plan.published;
  published.array_bytes = given.array_bytes;
  published.batch_bytes = given.batch_bytes;
  published.hold = given.hold;
  const std::vector<SnapshotAlternative> alternatives = swept_alternatives(options);
  const bool all_published = std::all_of(alternatives.begin(), alternatives.end(),
                                         [](const SnapshotAlternative& each) { return each.published; });
  plan.axes = parse_sweep(options.sweep, all_published ? published : given, numa_nodes().size());
  plan.rows = sweep_rows(plan.axes, alternatives, given, published);
  const auto& words = options.measure.allocators;
  plan.allocator =
      resolve_allocators(words.empty() ? std::vector<std::string>{"glibc"} : words, options.measure.env).front();
  const std::string started = utc_now();
  const Json environment = describe_environment();
  const Json json = sweep_json(plan, run_sweep(plan, stop_requested), started, Subcommand::command_line, environment);
  if (stop_requested()) fmt::print(stderr, "zerotax: interrupted: showing only what was finished\n");
  const std::string& file = options.measure.json;
  if (!file.empty()) write_file(file, json_text(json));
  if (file != "-") {
    fmt::print("{}", sweep_table(json));
    if (options.plot) fmt::print("{}", sweep_plots(json, plot_style()));
  }
  if (const std::string loss = text_field(json, "loss", ""); !loss.empty()) {
    fmt::print(stderr, "{}", wrap(loss, "! ", "  "));
  }
  return status_of(json.at("rows"));
}

}  // namespace zerotax::snapshot
