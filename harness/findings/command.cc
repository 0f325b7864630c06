#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "core/output_file.h"
#include "core/output_paths.h"
#include "core/stored_run.h"
#include "findings/document.h"
#include "findings/points.h"

namespace zerotax::findings {
namespace {

constexpr const char* kExamples =
    "  zerotax findings results/2026-11-20T05-10-00Z\n"
    "  zerotax findings results/2026-11-20T05-10-00Z --allocator mimalloc\n"
    "  zerotax run --allocator mine=./libmine.so --size 20MiB --json mine.json; zerotax findings mine.json\n"
    "Exit status: 1 if there are findings.\n";

struct Options {
  std::string run;
  std::vector<std::string> allocators;
  std::string json;
};

/// Throws UsageError for an allocator that the run has not measured.
void keep_only(const std::vector<std::string>& names, std::vector<AllocatorFindings>& all) {
  if (names.empty()) return;
  for (const std::string& name : names) {
    if (std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.allocator == name; })) continue;
    std::string there;
    for (const auto& one : all) there += (there.empty() ? "" : ", ") + one.allocator;
    throw UsageError(fmt::format("the run does not contain '{}'", name),
                     there.empty() ? "it has no points at all" : "it has " + there);
  }
  std::erase_if(all,
                [&](const auto& one) { return std::find(names.begin(), names.end(), one.allocator) == names.end(); });
}

/// A point without a result triggers no rule: that does not clear the allocator.
void say_unmeasured(const std::vector<Point>& points) {
  const auto without =
      std::count_if(points.begin(), points.end(), [](const Point& point) { return !has_result(point); });
  if (without > 0) fmt::print("\n{} of {} points have no result and were left out.\n", without, points.size());
}

ExitStatus findings(const Options& options) {
  const StoredRun run = read_stored_run(options.run);
  std::vector<NamedPath> inputs;
  for (const std::string& file : run.files) inputs.push_back({"the run that is read", file});
  check_outputs({{"--json", options.json}}, inputs);
  std::vector<AllocatorFindings> all = find_findings(run.points, run.thresholds);
  keep_only(options.allocators, all);
  const Json json = findings_json(all, options.run);
  if (!options.json.empty()) write_file(options.json, json_text(json));
  if (options.json != "-") {
    fmt::print("{}", findings_text(json));
    say_unmeasured(run.points);
  }
  return json.at("findings").empty() ? ExitStatus::kDone : ExitStatus::kFinding;
}

const Subcommand command(
    "findings", "say what is wrong in measured points, with evidence", kExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      arguments.option("run", options->run, "a results folder, or a file of zerotax run --json").required().path();
      arguments.option("--allocator", options->allocators, "only of this one (repeatable)").repeatable();
      arguments.option("--json", options->json, "write them to this file (- is standard output)").path();
      return [options] { return findings(*options); };
    });

}  // namespace
}  // namespace zerotax::findings
