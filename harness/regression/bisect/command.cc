#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/error.h"
#include "baseline/options.h"
#include "bisect/document.h"
#include "bisect/options.h"
#include "bisect/recipe.h"
#include "bisect/table.h"
#include "cli/common_options.h"
#include "cli/places.h"
#include "cli/subcommand.h"
#include "files/output_file.h"
#include "files/results.h"
#include "os/environment.h"
#include "os/input_file.h"
#include "os/print.h"
#include "os/utc.h"
#include "run/figures.h"
#include "run/interrupt.h"

namespace zerotax::bisect {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHistoryExamples =
    "  zerotax history --repo ~/src/mimalloc --recipe mimalloc --tags 'v2.*' --out mimalloc-history\n"
    "  zerotax history --debian mimalloc --size 1MiB --size 20MiB --no-thresholds\n"
    "  zerotax history --repo ~/src/jemalloc --recipe jemalloc --range 5.2.1..5.3.0 --no-thresholds --size 20MiB\n"
    "  zerotax history --repo . --build 'make -j {jobs}' --library 'libmine.so' --range v1.0..HEAD\n"
    "  zerotax history --repo ~/src/mimalloc --recipe mimalloc --tags 'v2.1.*' --html history.html\n"
    "  zerotax history --repo . --build 'make -j {jobs}' --range v1.0..HEAD -- ./decoder tests/big.bin\n"
    "  zerotax history --repo /shared/mimalloc --recipe mimalloc --on slurm --out /shared/mimalloc-history\n"
    "A range is followed along first parents, one row for each commit of it, and A itself first; --all-parents takes "
    "every commit. Tags are in the order of their versions. Builds and measurements are kept in "
    "$XDG_CACHE_HOME/zerotax/history: a second run resumes. A command after -- runs in the folder of each version's "
    "files.\n";

/// Names in the folder of --out: the document, the table and the figure.
constexpr const char* kDocument = "history.json";
constexpr const char* kTable = "history.txt";
constexpr const char* kFigure = "history.svg";

struct HistoryOptions {
  CommonOptions common;
  std::vector<std::string> tags;
  std::string range;
  std::string debian;
  bool all_parents = false;
  bool again = false;
  std::string out;
  std::string json;
  std::string html;
  FleetOptions fleet;
};

/// Checks that the folder of --out is new, empty, from an earlier history, or begun by Slurm. Files in it with the
/// names of our outputs count as ours.
void check_out(const std::string& out) {
  std::error_code failure;
  if (out.empty()) return;
  if (!fs::exists(fs::symlink_status(out, failure))) {
    const fs::path parent = absolute_path(out).lexically_normal().parent_path();
    if (fs::is_directory(parent, failure)) return;
    throw UsageError(fmt::format("--out '{}': there is no folder {}", out, parent.string()), "make it first");
  }
  if (!fs::is_directory(out, failure))
    throw UsageError(fmt::format("--out '{}' is not a folder", out), "give a new one");
  if (fs::exists(out + "/" + kDocument, failure) || fs::exists(out + "/fleet", failure) || fs::is_empty(out, failure)) {
    std::vector<NamedPath> outputs;
    for (const char* name : {kDocument, kTable, kFigure}) outputs.push_back({"--out DIR", out + "/" + name});
    return check_outputs(outputs);
  }
  throw UsageError(fmt::format("--out '{}' is not empty, and no history is in it", out), "give a new folder");
}

std::vector<Commit> selected(const HistoryOptions& options, const std::optional<Repository>& repository,
                             const Recipe& recipe, std::string& words) {
  if (!repository) {
    words = fmt::format("packages {}", fmt::join(recipe.packages, " "));
    return debian_versions(recipe);
  }
  if (!options.range.empty()) {
    words = "range " + options.range;
    return repository->range(options.range, options.all_parents);
  }
  const std::vector<std::string> patterns = options.tags.empty() ? std::vector{recipe.tags} : options.tags;
  words = fmt::format("tags {}", fmt::join(patterns, " "));
  return repository->tags(patterns);
}

/// A recipe that fails everywhere is a mistake in it, rather than a history.
void check_any_built(const History& history, bool of_program) {
  const auto built = [&](const Row& row) {
    // An allocator that does not work is a result; a command that fails everywhere is a mistake in it.
    return row.version.state == Version::State::kMeasured || row.version.state == Version::State::kNotMeasured ||
           (row.version.state == Version::State::kUnusable && !of_program);
  };
  if (std::any_of(history.rows.begin(), history.rows.end(), built)) return;
  const Version& last = history.rows.back().version;
  throw UsageError(
      fmt::format("none of {} versions was {}; {} {}", history.rows.size(), of_program ? "measured" : "built",
                  last.commit.name(), why_not(last)),
      of_program ? "correct --build, --keep or the command" : "correct --build and --library, or the recipe");
}

void write_folder(const HistoryOptions& options, const History& found, const std::string& json,
                  const std::string& text) {
  if (options.out.empty()) return;
  fs::create_directory(options.out);
  write_file(options.out + "/" + kDocument, json);
  write_file(options.out + "/" + kTable, text);
  // Without a version there is nothing to draw; and who interrupts does not want to wait.
  const bool any = std::any_of(found.rows.begin(), found.rows.end(),
                               [](const Row& row) { return row.version.measurement.has_value(); });
  if (!any || !found.complete) return;
  try {
    write_file(options.out + "/" + kFigure, draw_svg("history", json));
  } catch (const MachineError& problem) {
    print_text(stderr, "zerotax: no figure: {}: {}\n", problem.what(), problem.remedy());
  }
}

/// Where the versions of a fleet are kept: every node sees --out, and maybe nothing else.
Cache cache_for(const fleet::Place& place, const std::string& out) {
  return place.slurm ? Cache(absolute_path(out + "/cache").lexically_normal().string()) : Cache();
}

History measured_history(const HistoryOptions& options, const fleet::Place& place, const std::vector<Commit>& commits,
                         const Versions& versions, const VersionPlan& plan) {
  if (!place.slurm) return run_history(versions, commits, plan.grid);
  return run_history(versions, commits, plan.grid, measure_on_slurm(plan, place, options.out));
}

Recipe chosen_recipe(const HistoryOptions& options) {
  return options.debian.empty() ? options.common.chosen_recipe() : recipe_of_debian(options.debian);
}

ExitStatus history(HistoryOptions options) {
  options.common.take_command();
  const Recipe recipe = chosen_recipe(options);
  const Grid grid = options.common.grid();
  if (options.tags.empty() && options.range.empty() && recipe.tags.empty() && !recipe.is_of_debian()) {
    throw UsageError("it is not said which versions", "give --tags PATTERN or --range A..B");
  }
  const std::vector<NamedPath> outputs{{"--json", options.json}, {"--html", options.html}};
  check_outputs(outputs);
  check_out(options.out);
  check_outside(outputs, {"--out", options.out});
  if (!options.html.empty()) make_comparison_page("");
  const fleet::Place place = options.fleet.place();
  try {
    std::optional<Git> git;
    std::optional<Repository> repository;
    if (!recipe.is_of_debian()) repository.emplace(git.emplace(options.common.repository));
    const std::string folder = repository ? repository->folder() : "Debian";
    HistoryRequest request{{folder, recipe, utc_now(), describe_environment()}, "", grid};
    const std::vector<Commit> commits = selected(options, repository, recipe, request.selection);
    if (place.slurm && options.out.empty()) options.out = default_results_path();
    if (!place.slurm) check_tools(recipe);  // else each task asks its node
    const Cache cache = cache_for(place, options.out);
    Workspace workspace(git ? &*git : nullptr);
    const unsigned jobs = options.common.build_jobs(place.slurm);
    const Builder builder{cache, recipe, jobs, options.common.build_timeout_s, options.again};
    const VersionPlan plan{absolute_path(folder).lexically_normal().string(),
                           cache.folder(),
                           recipe,
                           grid,
                           jobs,
                           options.common.build_timeout_s,
                           commits};
    const History found = measured_history(options, place, commits, Versions(builder, workspace), plan);
    check_any_built(found, recipe.is_of_program());
    const std::string json = json_text(history_json(request, found));
    const std::string text = history_text(request, found);
    write_folder(options, found, json, text);
    if (!options.json.empty()) write_file(options.json, json);
    if (!options.html.empty()) write_file(options.html, make_comparison_page(json));
    if (options.json != "-" && options.html != "-") print_lines(stdout, text);
    if (!found.complete) say_interrupted("the same command again resumes");
  } catch (const Stop&) {
    say_interrupted("nothing was written");
  }
  return ExitStatus::kDone;
}

const Subcommand history_command(
    "history", Wing::kRegression, "build and measure the versions of a project, and report which one changed what",
    kHistoryExamples, [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<HistoryOptions>();
      options->common.add(arguments, "", "measure the sizes only, and do not search where behaviour changes");
      arguments
          .option(
              "--debian", options->debian,
              "in place of --repo: the packages of an allocator in the releases of Debian, or a package by its name")
          .shown_as("NAME")
          .word()
          .completed_by(names_in_debian)
          .excludes({"--"}, {baseline::kOfAllocators.problem, "leave one of them out"});
      arguments.exactly_one({"--debian", "--repo"},
                            {"it is not said of which project", "give --repo FOLDER, or --debian NAME"});
      arguments.flag("--again", options->again, "build and measure again what an earlier run has")
          .excludes({"--on=slurm"},
                    {"{0} has no effect with --on slurm", "give a new folder to --out: it has no earlier results"});
      arguments
          .option("--tags", options->tags,
                  "tags that match this pattern, as in 'v2.*' (repeatable; default: the recipe's)")
          .shown_as("PATTERN")
          .word()
          .repeatable();
      arguments.option("--range", options->range, "the commits from A to B, as in v2.1.0..HEAD")
          .shown_as("A..B")
          .word()
          .excludes({"--tags"});
      arguments.flag("--all-parents", options->all_parents, "every commit of the range, not only first parents")
          .needs({"--range"}, {"{0} has no effect without {1}", "leave it out, or give {1} A..B"});
      arguments
          .option("--out", options->out, "folder for the JSON, the table and the figure; new, or of an earlier run")
          .path();
      add_json(arguments, options->json);
      arguments.option("--html", options->html, "write a page with the versions as its axis to this file").path();
      options->fleet.add(arguments);
      arguments.find("--debian")
          .excludes({"--recipe", "--build", "--library", "--tags", "--range", "--all-parents", "--jobs",
                     "--build-timeout", "--on"});
      return [options] { return history(*options); };
    });

}  // namespace
}  // namespace zerotax::bisect
