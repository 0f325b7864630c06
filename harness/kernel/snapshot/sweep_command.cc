#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "base/wrap.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/output_file.h"
#include "os/environment.h"
#include "os/numa_nodes.h"
#include "os/print.h"
#include "os/utc.h"
#include "run/allocators.h"
#include "run/interrupt.h"
#include "snapshot/document.h"
#include "snapshot/options.h"

namespace zerotax::snapshot {
namespace {

/// Where there is no other choice: the benchmark as published, and as it was meant.
std::vector<SnapshotAlternative> swept_alternatives(const Options& options) {
  if (options.alternatives.empty()) return chosen_alternatives({"published", "published_fixed"});
  return chosen_alternatives(options.alternatives);
}

}  // namespace

ExitStatus run_sweep_command(const Options& options) {
  if (options.measure.allocators.size() > 1) {
    throw UsageError("--sweep and several --allocator do not go together", "give one");
  }
  check_outputs({{"--json", options.measure.json}}, library_inputs(options.measure.allocators));
  const SnapshotPlan sized = sized_plan(options);
  const std::vector<SnapshotAlternative> alternatives = swept_alternatives(options);
  const bool all_published = std::all_of(alternatives.begin(), alternatives.end(),
                                         [](const SnapshotAlternative& each) { return each.published; });
  const SweepAxes axes =
      parse_sweep(options.sweep, all_published ? sized.published : sized.parameters, numa_nodes().size());
  const std::vector<SweptRow> rows = sweep_rows(axes, alternatives, sized.parameters, sized.published);
  const SweepPlan plan{allocators_of(options).front(), axes, rows, sized.repeat, sized.timeout_s};
  const std::string started = utc_now();
  const Json environment = describe_environment();
  Sweep sweep = run_sweep(plan);
  sweep.started = started;
  sweep.command = Subcommand::command_line;
  sweep.environment = environment;
  add_sweep_verdict(sweep);
  if (stop_requested()) say_interrupted();
  const std::string& file = options.measure.json;
  if (!file.empty()) write_file(file, json_text(sweep_json(sweep)));
  if (file != "-") {
    print_lines(stdout, sweep_table(sweep));
    if (options.plot) print_lines(stdout, sweep_plots(sweep, plot_style()));
  }
  if (sweep.loss) try_to_print(stderr, wrap(*sweep.loss, "! ", "  "));
  return exit_status_of(sweep.rows);
}

}  // namespace zerotax::snapshot
