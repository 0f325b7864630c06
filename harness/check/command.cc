#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "check/baseline.h"
#include "check/document.h"
#include "check/lasting_changes.h"
#include "check/measure.h"
#include "check/plan.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "os/input_file.h"

namespace zerotax::check {
namespace {

constexpr const char* kExamples =
    "  zerotax check --allocator mine=./libmine.so --baseline mine.json\n"
    "  zerotax check --allocator jemalloc --baseline tests/regression/baselines\n";

struct Options {
  MeasureOptions measure;
  std::string baseline;
};

/// A folder means the file in it that is named for the allocator and its version.
std::string baseline_path(const std::string& given, const Allocator& allocator) {
  std::error_code failure;
  return std::filesystem::is_directory(given, failure) ? given + "/" + baseline_file_name(allocator) : given;
}

/// How the same measurement is accepted.
std::string bless_command(const Options& options, const std::string& word, const std::string& path) {
  std::string command = fmt::format("zerotax bless --allocator {} --baseline {}", word, path);
  for (const std::string& env : options.measure.env) command += " --env " + env;
  return command;
}

void print_kept_out(const std::vector<std::string>& names, const char* why) {
  for (const std::string& name : names) fmt::print("  not compared, {}: {}\n", why, name);
}

ExitStatus check(const Options& options) {
  options.measure.check();
  const auto allocators = resolve_allocators(options.measure.allocators, options.measure.env);
  ExitStatus status = ExitStatus::kDone;
  // All of them before anything is measured; nothing where there is none.
  std::vector<std::optional<Baseline>> baselines;
  for (const Allocator& allocator : allocators) {
    const std::string path = baseline_path(options.baseline, allocator);
    baselines.push_back(is_there(path) ? std::optional(read_baseline(path)) : std::nullopt);
  }
  for (std::size_t i = 0; i < allocators.size(); ++i) {
    const Allocator& allocator = allocators[i];
    const std::string word = allocator.preload ? allocator.name + "=" + *allocator.preload : allocator.name;
    const std::string path = baseline_path(options.baseline, allocator);
    const std::string accept = bless_command(options, word, path);
    if (!baselines[i]) {
      throw MachineError(fmt::format("no baseline for {} {} ({})", allocator.name, allocator.version, path),
                         "make one with: " + accept);
    }
    const Baseline& before = *baselines[i];
    const BaselineVerdict verdict = hold_against(before, [&](const BaselinePart* part, const PointTime& time) {
      return measure_baseline(allocator, options.measure.timeout_s, part, time);
    });
    if (verdict.changes.empty()) fmt::print("{} {}: as in {}\n", allocator.name, allocator.version, path);
    for (const std::string& line : failing_in_baseline(before)) {
      fmt::print("  a failure that the baseline accepts: {}\n", line);
    }
    print_kept_out(verdict.unsteady, "not the same each time");
    print_kept_out(verdict.by_the_clock, "depends on the clock");
    if (verdict.changes.empty()) continue;
    status = ExitStatus::kFinding;
    fmt::print("{} {}: {} metrics differ from {}\n", allocator.name, allocator.version, verdict.changes.size(), path);
    for (const BaselineChange& change : verdict.changes) fmt::print("  {}\n", change.line);
    fmt::print("If this is intended, accept it with: {}\n", accept);
  }
  return status;
}

const Subcommand command(
    "check", "compare an allocator's deterministic metrics with a baseline", kExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      options->measure.add_allocators(arguments);
      arguments.option("--baseline", options->baseline, "a baseline, or a folder of them").required().path();
      return [options] { return check(*options); };
    });

}  // namespace
}  // namespace zerotax::check
