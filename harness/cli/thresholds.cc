#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "analyze/threshold_report.h"
#include "base/size.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "drive/audit_point.h"
#include "drive/interrupt.h"
#include "drive/memory_guard.h"
#include "drive/output_file.h"
#include "drive/progress.h"
#include "drive/results.h"
#include "drive/side_by_side.h"
#include "os/environment.h"

namespace zerotax {
namespace {

constexpr const char* kExamples =
    "  zerotax thresholds --allocator glibc --allocator largecache\n"
    "  zerotax thresholds --allocator jemalloc --touch 1 --thread main --from 1MiB --to 16MiB --grid 8\n"
    "  zerotax thresholds --allocator mine=./libmine.so --json thresholds.json\n";

struct Options {
  MeasureOptions measure;
  std::string from = "16KiB";
  std::string to = "2GiB";
  unsigned grid = 2;
  std::string json;
};

/// Thrown out of a search that is to end.
struct Interrupted {};

/// Behaviour can change up to the fifth call; where a call takes long, blocks are mapped anew or kept, and four show
/// which.
Repeats repeats_for(std::uint64_t size) {
  const std::uint32_t ops = size <= 4 * kMiB ? 8 : size <= 64 * kMiB ? 6 : 4;
  return {ops, ops, ops, ops, 0};
}

std::vector<ThresholdLane> make_lanes(const Plan& plan, const PlanAxes& axes) {
  std::vector<ThresholdLane> lanes;
  for (const Allocator& allocator : plan.allocators) {
    for (const double touch : axes.touches) {
      for (const std::string& thread : axes.threads) lanes.push_back({allocator, touch, thread, false, {}});
    }
  }
  return lanes;
}

void search(const Plan& plan, const std::vector<std::uint64_t>& grid, std::vector<ThresholdLane>& lanes) {
  const auto stop = [] { return interrupted() != 0; };
  Progress progress("searching lanes", lanes.size(), static_cast<double>(lanes.size()));
  std::mutex progress_lock;
  const std::size_t workers = audits_side_by_side(grid.back());
  run_side_by_side(lanes.size(), workers, [&](std::size_t i) {
    ThresholdLane& lane = lanes[i];
    std::size_t index = 0;
    while (plan.allocators[index].name != lane.allocator.name) ++index;
    const auto probe = [&](std::uint64_t size) {
      {
        const std::scoped_lock lock(progress_lock);
        progress.show(fmt::format("{} touch {:g} {} at {} B", lane.allocator.name, lane.touch, lane.thread, size));
      }
      const PointSpec spec{index, "calloc_loop", size, lane.touch, lane.thread, repeats_for(size)};
      const Json point = audit_point(plan, spec, stop);
      if (stop()) throw Interrupted{};
      return signature_of(point);
    };
    lane.found = find_thresholds(grid, probe);
    lane.searched = true;
    const std::scoped_lock lock(progress_lock);
    progress.advance(1);
  });
}

ExitStatus thresholds(const Options& options) {
  options.measure.check();
  const std::uint64_t from = parse_size(options.from);
  const std::uint64_t to = parse_size(options.to);
  if (to < from) throw UsageError(fmt::format("--from {} is above --to {}", options.from, options.to), "exchange them");
  if (options.grid < 1 || options.grid > 1024) {
    throw UsageError(fmt::format("--grid {} is no usable number of sizes", options.grid),
                     "give 1 to 1024 sizes an octave");
  }
  if (!options.json.empty()) check_writable(options.json);
  PlanAxes axes{{"calloc_loop"}, {from, to}, options.measure.touches, options.measure.threads};
  if (axes.touches.empty()) axes.touches = {0, 0.01, 1};
  if (axes.threads.empty()) axes.threads = {"main", "worker"};
  check_axes(axes);
  Plan plan;
  plan.timeout_s = options.measure.timeout_s;
  plan.allocators = resolve_allocators(options.measure.allocators, options.measure.env);

  const std::string started = utc_now();
  std::vector<ThresholdLane> lanes = make_lanes(plan, axes);
  try {
    search(plan, threshold_grid(from, to, options.grid), lanes);
  } catch (const Interrupted&) {
    fmt::print(stderr, "zerotax: interrupted: only what was searched to its end is shown\n");
  }
  const Json json = thresholds_json(lanes, from, to, started, describe_environment());
  if (!options.json.empty()) write_file(options.json, json.dump(1) + "\n");
  if (options.json != "-") {
    fmt::print("{}\n{} probes, each in a process of its own\n", thresholds_text(lanes),
               json["probes"].get<std::size_t>());
  }
  return ExitStatus::kDone;
}

const Subcommand command("thresholds", "find every size at which an allocator changes its ways, to the byte", kExamples,
                         [](CLI::App& app) -> std::function<ExitStatus()> {
                           const auto options = std::make_shared<Options>();
                           options->measure.add_allocators(app);
                           options->measure.add_touch_and_thread(app, "0, 0.01 and 1", "both");
                           app.add_option("--from", options->from, "smallest size")->capture_default_str();
                           app.add_option("--to", options->to, "largest size")->capture_default_str();
                           app.add_option("--grid", options->grid,
                                          "sizes an octave to look at first: a change that is undone before the next "
                                          "of them is not found")
                               ->capture_default_str();
                           app.add_option("--json", options->json,
                                          "write the thresholds to this file (- is standard output)")
                               ->check(not_empty());
                           return [options] { return thresholds(*options); };
                         });

}  // namespace
}  // namespace zerotax
