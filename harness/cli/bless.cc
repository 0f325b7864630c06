#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "analyze/baseline.h"
#include "cli/measure_baseline.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "drive/baseline_plan.h"
#include "drive/output_file.h"
#include "drive/output_paths.h"

namespace zerotax {
namespace {

constexpr const char* kExamples =
    "  zerotax bless --allocator mine=./libmine.so --baseline mine.json\n"
    "  zerotax bless --baseline tests/regression/baselines        every built-in allocator\n";

struct Options {
  MeasureOptions measure;
  std::string baseline;
};

ExitStatus bless(const Options& options) {
  options.measure.check();
  const auto allocators = resolve_allocators(options.measure.allocators, options.measure.env);
  std::error_code failure;
  const bool folder = std::filesystem::is_directory(options.baseline, failure);
  if (allocators.size() > 1 && !folder) {
    throw UsageError(fmt::format("{} allocators do not fit in the one file {}", allocators.size(), options.baseline),
                     "name one with --allocator, or give --baseline a folder");
  }
  for (const Allocator& allocator : allocators) {
    const std::string path = folder ? options.baseline + "/" + baseline_file_name(allocator) : options.baseline;
    check_outputs({{"--baseline", path}}, library_inputs(options.measure.allocators));
  }
  for (const Allocator& allocator : allocators) {
    const std::string path = folder ? options.baseline + "/" + baseline_file_name(allocator) : options.baseline;
    check_writable(path);
    // Twice: what the allocator does by the clock is no baseline.
    const Json first = measure_baseline(allocator, options.measure.timeout_s);
    const Json baseline = agreed_baseline(first, measure_baseline(allocator, options.measure.timeout_s));
    write_file(path, json_text(baseline));
    fmt::print("{} {}: {}\n", allocator.name, allocator.version, path);
  }
  return ExitStatus::kDone;
}

const Subcommand command("bless", "accept what an allocator does now as its baseline", kExamples,
                         [](CLI::App& app) -> std::function<ExitStatus()> {
                           const auto options = std::make_shared<Options>();
                           options->measure.add_allocators(app);
                           app.add_option("--baseline", options->baseline, "the file to write, or a folder for several")
                               ->required()
                               ->check(not_empty());
                           return [options] { return bless(*options); };
                         });

}  // namespace
}  // namespace zerotax
