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
#include "cli/terminal_options.h"
#include "files/output_file.h"
#include "files/results.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/input_file.h"
#include "os/print.h"
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
    "A range A..B gives a row for A and for each first parent after it; --all-parents includes every commit. Tags are "
    "in the order of their versions. Builds and measurements are kept in $XDG_CACHE_HOME/zerotax/history, so that a "
    "second run resumes. A command after -- runs in the folder of each version's files.\n";

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

/// Checks that the folder of --out is new, empty, from an earlier history, or begun by Slurm. A file that has the name
/// of one of our outputs counts as ours.
void check_out(const std::string& out) {
  std::error_code failure;
  if (out.empty()) return;
  if (!fs::exists(fs::symlink_status(out, failure))) {
    const fs::path parent = absolute_path(out).lexically_normal().parent_path();
    if (fs::is_directory(parent, failure)) return;
    throw UsageError(fmt::format("--out '{}': there is no folder {}", out, parent.string()),
                     "create that folder first");
  }
  if (!fs::is_directory(out, failure))
    throw UsageError(fmt::format("--out '{}' is not a folder", out), "give --out a new folder");
  if (fs::exists(out + "/" + kDocument, failure) || fs::exists(out + "/fleet", failure) || fs::is_empty(out, failure)) {
    std::vector<NamedPath> outputs;
    for (const char* name : {kDocument, kTable, kFigure}) outputs.push_back({"--out DIR", out + "/" + name});
    return check_outputs(outputs);
  }
  throw UsageError(fmt::format("--out '{}' is not empty, and does not contain a history", out), "give a new folder");
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

/// Returns the command line of a bisection between two of these versions. Empty if no version has a commit, or if every
/// commit was measured.
std::vector<std::string> bisection_words(const HistoryOptions& options, const HistoryRequest& request) {
  const CommonOptions& common = options.common;
  if (!options.debian.empty() || (!options.range.empty() && options.all_parents)) return {};
  std::vector<std::string> words{"zerotax", "bisect", "--repo", request.repository};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--recipe", common.recipe);
  add("--build", common.build);
  add("--library", common.library);
  for (const std::string& each : common.keep) add("--keep", each);
  for (const std::string& each : common.sizes) add("--size", each);
  if (common.no_thresholds) words.emplace_back("--no-thresholds");
  if (common.words.empty()) return words;
  words.emplace_back("--");
  words.insert(words.end(), common.words.begin(), common.words.end());
  return words;
}

/// If a recipe fails for every version, the recipe is wrong.
void check_any_built(const History& history, bool of_program) {
  const auto built = [&](const Row& row) {
    // If an allocator works in no version, that is a result. If a command fails in every version, the command is wrong.
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
  // Without a measured version there is nothing to draw, and after an interrupt the user does not want to wait.
  const bool any = std::any_of(found.rows.begin(), found.rows.end(),
                               [](const Row& row) { return row.version.measurement.has_value(); });
  if (!any || !found.complete) return;
  try {
    write_file(options.out + "/" + kFigure, draw_svg("history", json));
  } catch (const MachineError& problem) {
    print_text(stderr, "zerotax: no figure: {}: {}\n", problem.what(), problem.remedy());
  }
}

/// Returns the cache. For a fleet, the cache is a folder in --out, because every node can read that folder.
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
    throw UsageError("no versions are given", "give --tags PATTERN or --range A..B");
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
    if (!place.slurm) check_tools(recipe);  // in a fleet, each task checks its own node
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
    const std::string json = json_text(history_document(request, found));
    const std::string text = history_text(request, found);
    write_folder(options, found, json, text);
    if (!options.json.empty()) write_file(options.json, json);
    if (!options.html.empty()) write_file(options.html, make_comparison_page(json));
    if (options.json != "-" && options.html != "-") {
      const std::vector<std::string> bisection = bisection_words(options, request);
      print_lines(stdout, wants_full_text() ? text : answer_text(history_answer(request, found, bisection)));
    }
    if (!found.complete) say_interrupted("the same command again resumes");
  } catch (const Stop&) {
    say_interrupted("nothing was written");
  }
  return ExitStatus::kDone;
}

const Subcommand history_command(
    "history", Wing::kRegression, "Measure many versions and show which of them changed", kHistoryExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<HistoryOptions>();
      options->common.add(arguments, "", "measure sizes only, and do not search for thresholds");
      arguments
          .option("--debian", options->debian,
                  "measure the packages of this allocator in Debian's releases, or a package by its name, instead of "
                  "--repo")
          .shown_as("NAME")
          .word()
          .completed_by(names_in_debian)
          .excludes({"--"}, {baseline::kOfAllocators.problem, "leave one of them out"});
      arguments.exactly_one({"--debian", "--repo"}, {"no project is given", "give --repo FOLDER, or --debian NAME"});
      arguments.flag("--again", options->again, "build and measure again, even if an earlier run already has a result")
          .excludes({"--on=slurm"},
                    {"{0} has no effect with --on slurm", "give --out a new folder, without earlier results"});
      arguments
          .option("--tags", options->tags,
                  "measure tags that match this pattern, as in 'v2.*' (repeatable; default: the recipe's)")
          .shown_as("PATTERN")
          .word()
          .repeatable();
      arguments.option("--range", options->range, "measure the commits from A to B, as in v2.1.0..HEAD")
          .shown_as("A..B")
          .word()
          .excludes({"--tags"});
      arguments.flag("--all-parents", options->all_parents, "measure every commit of --range, not only first parents")
          .needs({"--range"}, {"{0} has no effect without {1}", "leave out {0}, or give {1} A..B"});
      arguments
          .option("--out", options->out,
                  "write the JSON, table and figure to this folder, which is new or from an earlier run")
          .path();
      add_json(arguments, options->json);
      arguments.option("--html", options->html, "write a page with a chart of the versions to this file").path();
      options->fleet.add(arguments);
      arguments.find("--debian")
          .excludes({"--recipe", "--build", "--library", "--tags", "--range", "--all-parents", "--jobs",
                     "--build-timeout", "--on"});
      return [options] { return history(*options); };
    });

}  // namespace
}  // namespace zerotax::bisect
