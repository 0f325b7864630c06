#include "bisect/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "base/names.h"
#include "base/printable.h"
#include "base/size.h"
#include "base/units.h"
#include "baseline/measurer.h"
#include "baseline/options.h"
#include "cli/common_options.h"
#include "cli/subcommand.h"
#include "os/input_file.h"
#include "run/planning.h"
#include "run/program_launch.h"

namespace zerotax::bisect {
namespace {

/// Returns the name for an allocator without a recipe: that of the repository's folder, without characters that a name
/// must not contain.
std::string name_of_folder(const std::string& folder) {
  const std::filesystem::path whole = absolute_path(folder).lexically_normal();
  const std::string last = (whole.has_filename() ? whole : whole.parent_path()).filename().string();
  std::string name;
  for (const char letter : last.substr(0, last.find(".git"))) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9') || letter == '_' || (letter == '-' && !name.empty());
    if (plain) name += letter;
  }
  return name.empty() ? "library" : name.substr(0, 40);
}

/// Throws UsageError for a pattern that leads out of the folders of a version.
void check_within(const std::vector<std::string>& patterns, const std::string& remedy) {
  for (const std::string& pattern : patterns) {
    if (!pattern.starts_with('/') && ("/" + pattern + "/").find("/../") == std::string::npos) continue;
    throw UsageError(fmt::format("'{}' is not below a version's files", pattern), remedy);
  }
}

}  // namespace

void CommonOptions::add(Arguments& arguments, const char* sizes_more, const char* no_thresholds_words) {
  arguments.option("--repo", repository, "read this git repository of the project, bare or not").path();
  arguments
      .option("--recipe", recipe,
              "build each version by this recipe: its name, or a file (results/schema/recipe.schema.json)")
      .shown_as("RECIPE")
      .word()
      .completed_by(recipe_names)
      .excludes({"--"}, baseline::kOfAllocators)
      .excludes({"--build", "--library"}, {"{0} already says how to build", "leave out --build and --library, or {0}"});
  arguments
      .option("--build", build,
              "build each version with this shell command instead of a recipe, in the folder of its files "
              "({source}); {build} is an empty folder beside it, {jobs} the value of --jobs")
      .shown_as("COMMAND")
      .word();
  arguments
      .option("--library", library,
              "use the library that --build makes: a pattern below {source}, or {build}/FILE; a recording after "
              "-- is replayed under it")
      .path();
  arguments
      .option("--keep", keep,
              "keep files that the build makes and the command needs: a pattern below {source}, or {build}/FILE "
              "(repeatable; the command's program is kept already)")
      .shown_as("PATTERN")
      .path()
      .repeatable()
      .needs({"--"}, baseline::kOfCommands);
  baseline::add_name(arguments, name);
  add_rounds(arguments, rounds, "maximum number of runs of a command")
      .with_default()
      .in_range(1, 100)
      .needs({"--"}, baseline::kOfCommands);
  add_sizes(arguments, sizes, "the points of a baseline", sizes_more).excludes({"--"}, baseline::kOfAllocators);
  arguments.option("--jobs", jobs, "run this many jobs of a build in parallel (default: one for each CPU)")
      .shown_as("N")
      .in_range(1, 1024);
  arguments.option("--build-timeout", build_timeout_s, "set the time limit of each build, in seconds")
      .seconds()
      .shown_as("SECONDS")
      .with_default();
  add_timeout(arguments, timeout_s);
  arguments.flag("--no-thresholds", no_thresholds, no_thresholds_words).excludes({"--"}, baseline::kOfAllocators);
  add_to(arguments, to, "largest size of the search for thresholds; default: 256MiB")
      .word()
      .excludes({"--"}, baseline::kOfAllocators)
      .excludes({"--no-thresholds"}, {"{0} has no effect with {1}", "leave out {0} or {1}"});
}

void CommonOptions::take_command() {
  words = Subcommand::program_words();
  replays = words.size() == 1 && is_recording(words.front());
  if (!replays && !words.empty() && !library.empty()) {
    throw UsageError("--library is for an allocator, but a command is given after --",
                     "leave out --library, or -- and everything after it");
  }
  if (!replays) return;
  if (library.empty()) {
    throw UsageError(fmt::format("'{}' is a recording, but no allocator is given for its replay", words.front()),
                     "give --library PATH: the library that --build makes");
  }
  words.front() = absolute_path(words.front()).string();
}

Recipe CommonOptions::recipe_of_command() const {
  if (build.empty()) {
    throw UsageError("no command to build a version is given", "give --build COMMAND (--build true builds nothing)");
  }
  std::vector<std::string> patterns = keep;
  if (replays) {
    patterns.insert(patterns.begin(), library);
  } else if (words.front().find('/') != std::string::npos) {
    patterns.insert(patterns.begin(), words.front());
  }
  check_within(patterns, "give a relative path or {build}/FILE, or a name on PATH as the command");
  return recipe_of_program(name_of_command(), build, patterns);
}

std::string CommonOptions::name_of_command() const { return name.empty() ? file_name(words.front()) : name; }

Recipe CommonOptions::chosen_recipe() const {
  if (!words.empty()) return recipe_of_command();
  if (!recipe.empty()) {
    Recipe chosen = recipe_of(recipe);
    for (const auto* patterns : {&chosen.libraries, &chosen.beside, &chosen.keep}) {
      check_within(*patterns, fmt::format("use relative paths or {{build}}/FILE in the recipe {}", recipe));
    }
    return chosen;
  }
  if (build.empty() || library.empty()) {
    throw UsageError(build.empty() && library.empty()
                         ? "no recipe or command to build a version is given"
                         : fmt::format("{} is missing", build.empty() ? "--build" : "--library"),
                     "give --recipe NAME, or both --build COMMAND and --library PATH");
  }
  check_within({library}, "give --library a relative path or {build}/FILE");
  return recipe_of_options(name_of_folder(repository), build, library);
}

Grid CommonOptions::grid() const {
  Grid grid;
  grid.timeout_s = timeout_s;
  if (!words.empty()) {
    // Checks that words are UTF-8, because a run that continues an earlier run reads the words from the earlier run's
    // document.
    for (const std::string& word : words) {
      if (valid_utf8(word) != word) {
        throw UsageError(fmt::format("the word '{}' of the command is not UTF-8, but documents need UTF-8", word),
                         "use a name in UTF-8");
      }
    }
    grid.command =
        MeasuredCommand{name_of_command(), words, static_cast<std::uint64_t>(rounds), {}, replays ? library : ""};
    return grid;
  }
  for (const std::string& size : sizes) grid.sizes.push_back(parse_size(size));
  std::sort(grid.sizes.begin(), grid.sizes.end());
  grid.sizes.erase(std::unique(grid.sizes.begin(), grid.sizes.end()), grid.sizes.end());
  check_axes({{"calloc_loop"}, grid.sizes, {0.0, 1.0}, {"main", "worker"}});
  grid.thresholds = !no_thresholds;
  if (to.empty()) return grid;
  grid.to_bytes = parse_size(to);
  check_axes({{"calloc_loop"}, {grid.to_bytes}, {0.0}, {"main"}});
  if (grid.to_bytes <= baseline::baseline_range().from) {
    throw UsageError(fmt::format("--to {} is not above {}", to, format_size(baseline::baseline_range().from)),
                     "give a larger size");
  }
  return grid;
}

unsigned CommonOptions::build_jobs(bool of_task) const {
  if (jobs > 0) return static_cast<unsigned>(jobs);
  return of_task ? 1 : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace zerotax::bisect
