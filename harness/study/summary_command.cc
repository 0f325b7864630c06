#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/common_options.h"
#include "cli/subcommand.h"
#include "core/output_file.h"
#include "core/output_paths.h"
#include "core/stored_run.h"
#include "study/summary.h"

namespace zerotax::study {
namespace {

constexpr const char* kSummaryExamples =
    "  zerotax summary results/2026-11-20T05-10-00Z\n"
    "  zerotax summary results/2026-11-20T05-10-00Z --json results/2026-11-20T05-10-00Z/summary.json\n"
    "  zerotax run --size 20MiB --json mine.json; zerotax summary mine.json\n";

struct SummaryOptions {
  std::string run;
  std::string json;
};

/// May overwrite the summary that a study wrote, but nothing that was measured.
ExitStatus summary(const SummaryOptions& options) {
  const StoredRun run = read_stored_run(options.run);
  std::vector<NamedPath> inputs;
  for (const std::string& file : run.files) inputs.push_back({"the run that is read", file});
  check_outputs({{"--json", options.json}}, inputs);
  const std::string head = std::filesystem::is_directory(options.run) ? options.run + "/run.json" : options.run;
  const Json json = summary_json(run.points, read_json_file(head));
  if (!options.json.empty()) write_file(options.json, json_text(json));
  if (options.json != "-") fmt::print("{}", summary_text(json));
  return ExitStatus::kDone;
}

const Subcommand summary_subcommand(
    "summary", "summarise a run: which allocators zero redundantly, at which sizes, at what cost", kSummaryExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<SummaryOptions>();
      arguments.option("run", options->run, "a results folder, or a file of zerotax run --json").required().path();
      add_json(arguments, options->json);
      return [options] { return summary(*options); };
    });

}  // namespace
}  // namespace zerotax::study
