#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/size.h"
#include "check/baseline.h"
#include "check/document.h"
#include "check/measure.h"
#include "check/subject.h"
#include "check/table.h"
#include "cli/common_options.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "files/output_file.h"
#include "os/print.h"
#include "programs/programs.h"
#include "run/allocators.h"
#include "run/wait_lock.h"

namespace zerotax::check {
namespace {

constexpr const char* kBlessExamples =
    "  zerotax bless --allocator mine=./libmine.so --baseline mine.json\n"
    "  zerotax bless --baseline tests/regression/baselines        every built-in allocator\n"
    "  zerotax bless --allocator mine=./libmine.so --baseline quick.json --size 1MiB --size 20MiB\n"
    "  zerotax bless --baseline programs.json -- ./decoder input.bin\n"
    "  zerotax bless --baseline programs.json --name small -- ./decoder small.bin\n"
    "  zerotax bless --baseline workloads.json --allocator mine=./libmine.so -- workloads/*.calls\n"
    "A command runs several times, without a terminal; its input and output are /dev/null.\n";

struct BlessOptions {
  MeasureOptions measure;
  std::string baseline;
  std::string name;
  std::int64_t rounds = 10;
  bool allow_failing = false;
  bool force = false;
  bool thresholds = false;
};

/// Returns whether a baseline may be written, and prints the points that fail. A baseline should hold healthy points
/// only.
bool may_be_blessed(const Allocator& allocator, const std::vector<Baseline>& measured, bool allow_failing) {
  std::vector<std::string> failing;
  for (const Baseline& each : measured) {
    for (const std::string& line : failing_in_baseline(each)) {
      if (std::find(failing.begin(), failing.end(), line) == failing.end()) failing.push_back(line);
    }
  }
  if (failing.empty()) return true;
  const char* consequence = allow_failing
                                ? "the baseline contains points that fail"
                                : "no baseline is written, because these points fail (--allow-failing accepts "
                                  "them; zerotax run says why they fail)";
  print_text("{} {}: {}:\n", allocator.name, allocator.version, consequence);
  for (const std::string& line : failing) print_text("  {}\n", line);
  return allow_failing;
}

ExitStatus bless(const BlessOptions& options) {
  options.measure.check();
  std::vector<std::uint64_t> sizes;
  for (const std::string& size : options.measure.sizes) sizes.push_back(parse_size(size));
  check_sizes(sizes);
  const auto allocators = resolve_allocators(options.measure.allocators, options.measure.env);
  std::error_code failure;
  const bool folder = std::filesystem::is_directory(options.baseline, failure);
  if (allocators.size() > 1 && !folder) {
    throw UsageError(fmt::format("{} allocators do not fit in the one file {}", allocators.size(), options.baseline),
                     "name one with --allocator, or give --baseline a folder");
  }
  if (options.measure.allocators.size() == 1 && folder) {
    throw UsageError(
        fmt::format("{} is a folder, and one allocator is named", options.baseline),
        fmt::format("give the file, as in {}/{}", options.baseline, baseline_file_name(allocators.front())));
  }
  ExitStatus status = ExitStatus::kDone;
  std::vector<std::string> paths;
  for (const Allocator& allocator : allocators) {
    paths.push_back(folder ? options.baseline + "/" + baseline_file_name(allocator) : options.baseline);
    check_outputs({{"--baseline", paths.back()}}, library_inputs(options.measure.allocators));
    check_overwrite(allocator, paths.back(), options.force);
  }
  for (std::size_t i = 0; i < allocators.size(); ++i) {
    const Allocator& allocator = allocators[i];
    const std::string& path = paths[i];
    const NewBaseline made =
        measure_new_baseline(allocator, options.measure.timeout_s, sizes, options.thresholds || sizes.empty());
    const Baseline& baseline = made.baseline;
    if (!may_be_blessed(allocator, made.measured, options.allow_failing)) {
      status = ExitStatus::kFinding;
      continue;
    }
    {
      const UniqueFd lock = wait_for_folder_lock(path);
      check_overwrite(allocator, path, options.force);  // another command may have written it while we measured
      write_file(path, json_text(to_json(baseline)));
    }
    print_text("{} {}: {}\n", allocator.name, allocator.version, path);
    print_lines(stdout, unsteady_text(baseline));
    for (const std::string& name : *baseline.by_the_clock) {
      print_text("  depends on the clock, measured with the clock stopped: {}\n", name);
    }
  }
  return status;
}

ExitStatus bless_either(const BlessOptions& options, const Arguments& arguments) {
  const std::vector<std::string> words =
      programs::command_words(arguments, {"--size", "--thresholds"}, {"--name", "--rounds"});
  if (words.empty()) return bless(options);
  options.measure.check();
  const MeasureOptions& measure = options.measure;
  return programs::bless({words, options.baseline, options.name, measure.env, measure.allocators, measure.timeout_s},
                         options.rounds, options.allow_failing, options.force);
}

const Subcommand bless_subcommand(
    "bless", Wing::kRegression, "accept what an allocator or a program does now as its baseline", kBlessExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<BlessOptions>();
      options->measure.add_allocators(arguments);
      arguments.option("--baseline", options->baseline, "the file to write, or a folder for several").required().path();
      add_sizes(arguments, options->measure.sizes, "all, and thresholds", "a baseline that is checked quickly");
      arguments.flag("--thresholds", options->thresholds, "with --size: thresholds as well");
      arguments.flag(
          "--allow-failing", options->allow_failing,
          "write it even if points crash, hang, or break what calloc promises; of a command: even if its exit "
          "status is not 0");
      arguments.flag("--force", options->force,
                     "overwrite a baseline of another allocator or configuration, or a file that is not a baseline");
      programs::add_name(arguments, options->name);
      add_rounds(arguments, options->rounds, "of a command: at most; at least 3").with_default().in_range(3, 1000);
      return [options, arguments] { return bless_either(*options, arguments); };
    });

}  // namespace
}  // namespace zerotax::check
