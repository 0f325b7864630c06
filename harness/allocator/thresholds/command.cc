#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/nearest.h"
#include "base/printable.h"
#include "base/size.h"
#include "cli/common_options.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/document.h"
#include "files/output_file.h"
#include "files/results.h"
#include "os/print.h"
#include "run/allocators.h"
#include "run/fleet/job_folder.h"
#include "run/interrupt.h"
#include "run/planning.h"
#include "thresholds/document.h"
#include "thresholds/map.h"
#include "thresholds/table.h"

namespace zerotax::thresholds {
namespace {

constexpr const char* kExamples =
    "  zerotax thresholds --allocator glibc --allocator largecache\n"
    "  zerotax thresholds --allocator jemalloc --touch 1 --thread main --from 1MiB --to 16MiB --grid 8\n"
    "  zerotax thresholds --case refill_loop\n"
    "  zerotax thresholds --allocator mine=./libmine.so --json thresholds.json\n"
    "  zerotax thresholds --on slurm --out /shared/thresholds\n"
    "  zerotax thresholds --read old.json --json thresholds.json --plot\n"
    "With --read, --allocator selects the allocators of the file.\n";

struct Options {
  MeasureOptions measure;
  std::string case_name = kPlainCase;
  std::string from = "16KiB";
  std::string to = "2GiB";
  unsigned grid = 2;
  std::string read;
  std::string json;
  bool plot = false;
  std::vector<Argument> range;  ///< options --from, --to and --grid

  /// Sets options that were not given to the defaults of the case. Throws UsageError for a case without a search for
  /// thresholds.
  void take_defaults() {
    if (case_name == kPlainCase) return;
    check_word("--case", case_name, {kPlainCase, kRefillCase});
    if (!range[0].given()) from = fmt::format("{}KiB", kRefillFrom / kKiB);
    if (!range[1].given()) to = fmt::format("{}MiB", kRefillTo / kMiB);
    if (!range[2].given()) grid = kRefillPerOctave;
    if (measure.touches.empty()) measure.touches = {1};
    if (measure.threads.empty()) measure.threads = {kUsualThread};
  }
};

/// Keeps only the searches of the named allocators. Throws UsageError for an allocator that the file does not contain.
void keep_only(const std::vector<std::string>& names, const std::string& path, Thresholds& thresholds) {
  std::vector<std::string> there;
  for (const ThresholdLane& lane : thresholds.lanes) {
    if (std::find(there.begin(), there.end(), lane.allocator.name) == there.end()) there.push_back(lane.allocator.name);
  }
  for (const std::string& name : names) {
    if (std::find(there.begin(), there.end(), name) != there.end()) continue;
    refuse_word(fmt::format("{} has no search of '{}'", path, name), name, there);
  }
  if (names.empty()) return;
  std::erase_if(thresholds.lanes, [&](const ThresholdLane& lane) {
    return std::find(names.begin(), names.end(), lane.allocator.name) == names.end();
  });
}

/// Reads a file from an earlier version, and judges the file again.
ExitStatus judge_again(const Options& options) {
  check_outputs({{"--json", options.json}}, {{"--read", options.read}});
  Thresholds read =
      read_thresholds(read_document(options.read, "thresholds", "give a file of zerotax thresholds --json"));
  if (!read.is_plain()) {
    throw UsageError(fmt::format("{} was measured with another case, but a map needs {}", options.read, kPlainCase),
                     fmt::format("give a file that was measured with --case {}", kPlainCase));
  }
  keep_only(options.measure.allocators, options.read, read);
  if (!options.json.empty()) write_file(options.json, json_text(thresholds_json(read)));
  if (options.json != "-") {
    print_lines(stdout, wants_full_text() ? thresholds_text(read.lanes) + "\n" + printable(map_of(read).sentence) + "\n"
                                          : answer_text(answer(read)));
    if (options.plot) print_lines(stdout, "\n" + thresholds_plot(read, plot_style()));
  }
  return ExitStatus::kDone;
}

/// Searches on Slurm in a new folder, or continues an earlier search of the same lanes in its folder.
int search_on_slurm(ThresholdSession& session, const fleet::Place& place, const std::string& folder) {
  constexpr const char* kName = "thresholds";
  std::error_code failure;
  const bool is_used = std::filesystem::exists(folder, failure) && !std::filesystem::is_empty(folder, failure);
  if (is_used && !fleet::JobFolder(folder, kName).read_plan()) {
    throw UsageError(fmt::format("the folder {} is not empty", folder), "give --out a new folder");
  }
  return session.run({}, place, {folder, kName});
}

std::string full_text(const Thresholds& found) {
  std::size_t probes = 0;
  for (const ThresholdLane& lane : found.lanes) probes += lane.searched ? lane.found.probes : 0;
  return fmt::format("{}\n{} probes, each in a process of its own\n", thresholds_text(found.lanes), probes);
}

ExitStatus thresholds(Options options) {
  if (!options.read.empty()) return judge_again(options);
  options.take_defaults();
  const fleet::Place place = options.measure.fleet.place();
  const std::uint64_t from = parse_size(options.from);
  const std::uint64_t to = parse_size(options.to);
  if (to < from) throw UsageError(fmt::format("--from {} is above --to {}", options.from, options.to), "swap them");
  check_outputs({{"--json", options.json}}, library_inputs(options.measure.allocators));
  PlanAxes axes{{options.case_name}, {from, to}, options.measure.touches, options.measure.threads};
  if (axes.touches.empty()) axes.touches = {0, 0.01, 1};
  if (axes.threads.empty()) axes.threads = {kUsualThread};
  check_axes(axes);
  Plan plan;
  plan.timeout_s = options.measure.timeout_s;
  plan.allocators = resolve_allocators(options.measure.allocators, options.measure.env);

  const std::string folder = options.measure.out.empty() ? default_results_path() : options.measure.out;
  ThresholdSession session(std::move(plan), {from, to, options.grid, axes.touches, axes.threads, options.case_name});
  const int signal = place.slurm ? search_on_slurm(session, place, folder) : session.run();
  if (signal != 0) {
    say_interrupted("showing only finished searches" +
                    (place.slurm ? fmt::format("; resume with the same command and --out {}", folder) : ""));
  }
  const Thresholds found = session.result();
  const std::string json = json_text(thresholds_json(found));
  if (place.slurm) write_file(folder + "/thresholds.json", json);
  if (!options.json.empty()) write_file(options.json, json);
  if (options.json != "-") {
    print_lines(stdout, wants_full_text() ? full_text(found) : answer_text(answer(found, options.measure.allocators)));
    if (options.plot) print_lines(stdout, "\n" + thresholds_plot(found, plot_style()));
  }
  if (wants_full_text() || options.json == "-") say_next(next_step(found, options.measure.allocators));
  const bool failed = std::any_of(found.lanes.begin(), found.lanes.end(),
                                  [](const ThresholdLane& lane) { return !failure_of(lane).empty(); });
  return failed ? ExitStatus::kFinding : ExitStatus::kDone;
}

const Subcommand command("thresholds", Wing::kAllocator, "Find the exact sizes at which an allocator changes behavior",
                         kExamples, [](Arguments& arguments) -> std::function<ExitStatus()> {
                           const auto options = std::make_shared<Options>();
                           options->measure.add_allocators(arguments);
                           options->measure.add_touch_and_thread(arguments, "0, 0.01 and 1");
                           add_case(arguments, options->case_name,
                                    "probe with this case: calloc_loop, or refill_loop, which finds the sizes at which "
                                    "an allocator starts or stops returning memory that was freed together");
                           options->range = {add_from(arguments, options->from), add_to(arguments, options->to),
                                             add_grid(arguments, options->grid,
                                                      "a change that ends before the next of these sizes is missed")
                                                 .in_range(1, 1024, "sizes per octave")};
                           add_read(arguments, options->read, {"--allocator"});
                           arguments
                               .option("--out", options->measure.out,
                                       "with --on slurm, keep the job in this folder, which every node must see")
                               .needs({"--on=slurm"},
                                      {"{0} has no effect without {1}", "add {1}, or write the thresholds by --json"})
                               .path();
                           options->measure.fleet.add(arguments);
                           add_plot_option(arguments, options->plot, "a map of what calloc does at each size");
                           add_json(arguments, options->json);
                           return [options] { return thresholds(*options); };
                         });

}  // namespace
}  // namespace zerotax::thresholds
