#include "bisect/recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/nearest.h"
#include "bisect/document.h"
#include "files/document.h"
#include "judge/projects.h"
#include "run/debian_library.h"
#include "run/debian_packages.h"

namespace zerotax::bisect {
namespace {

const std::map<std::string, std::string>& embedded_recipes() {
  static const std::map<std::string, std::string> all{
#include "embedded_recipes.inc"
  };
  return all;
}

bool is_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder.empty() ? program : fmt::format("{}/{}", folder, program);
    if (::access(file.c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string replaced(std::string text, const std::string& name, const std::string& value) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size())) {
    text.replace(at, name.size(), value);
  }
  return text;
}

/// Returns the upstream version, such as "3.0.1" for "1:3.0.1+ds-2.1": without the epoch and Debian's additions
/// (deb-version(7)).
std::string upstream_version(std::string version) {
  version.erase(0, version.find(':') == std::string::npos ? 0 : version.find(':') + 1);
  version.erase(std::min(version.rfind('-'), version.size()));
  version.erase(std::min(version.find_first_of("+~"), version.size()));
  return version;
}

}  // namespace

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const auto& [name, text] : embedded_recipes()) names.push_back(name);
  return names;
}

Recipe recipe_of(const std::string& word) {
  if (word.find('/') != std::string::npos || word.ends_with(".json")) {
    return read_document(word, "recipe", "see results/schema/recipe.schema.json").get<Recipe>();
  }
  const auto found = embedded_recipes().find(word);
  if (found == embedded_recipes().end()) {
    throw UsageError(fmt::format("unknown recipe '{}'", word),
                     fmt::format("{}choose: {}; or give a file, or --build and --library",
                                 did_you_mean(word, recipe_names()), fmt::join(recipe_names(), ", ")));
  }
  return Json::parse(found->second).get<Recipe>();
}

Recipe recipe_of_options(const std::string& name, const std::string& command, const std::string& library) {
  Recipe recipe;
  recipe.name = name;
  recipe.commands = {command};
  recipe.libraries = {library};
  return recipe;
}

Recipe recipe_of_program(const std::string& name, const std::string& command, const std::vector<std::string>& keep) {
  Recipe recipe;
  recipe.name = name;
  recipe.commands = {command};
  recipe.keep = keep;
  return recipe;
}

void check_tools(const Recipe& recipe) {
  for (const RecipeTool& tool : recipe.tools) {
    if (is_on_path(tool.program)) continue;
    throw MachineError(fmt::format("the recipe of {} needs {}, which is not installed", recipe.name, tool.program),
                       "apt-get install " + tool.package);
  }
}

std::string command_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    // Leaves out unnecessary quotes, so that a log is easier to read.
    const bool as_is =
        word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-=./:+,{}") ==
        std::string::npos;
    text += (text.empty() ? "" : " ") + (as_is && !word.empty() ? word : quoted(word));
  }
  return text;
}

std::string quoted(const std::string& word) { return "'" + replaced(word, "'", "'\\''") + "'"; }

std::string command_at(const std::string& command, const RecipePlaces& places) {
  const std::string with_jobs = replaced(command, "{jobs}", fmt::format("{}", places.jobs));
  return replaced(replaced(with_jobs, "{source}", quoted(places.source)), "{build}", quoted(places.build));
}

std::string word_at(const std::string& word, const RecipePlaces& places) {
  return replaced(replaced(word, "{source}", places.source), "{build}", places.build);
}

std::string path_at(const std::string& path, const RecipePlaces& places) {
  const std::string whole = word_at(path, places);
  return whole.starts_with('/') ? whole : places.source + "/" + whole;
}

std::vector<std::string> names_in_debian() {
  std::vector<std::string> names;
  for (const auto& [name, text] : embedded_upstreams()) {
    if (project_of(name)->debian) names.push_back(name);
  }
  return names;
}

Recipe recipe_of_debian(const std::string& name) {
  const Project* project = project_of(name);
  Recipe recipe;
  recipe.name = name;
  recipe.packages = project != nullptr && project->debian ? *project->debian : std::vector{name};
  for (const std::string& package : recipe.packages) recipe.libraries.push_back("deb:*/" + package);
  return recipe;
}

std::vector<Commit> debian_versions(const Recipe& recipe) {
  std::vector<Commit> versions;
  for (const std::string& release : debian_releases()) {
    const auto package = find_debian_package(release, recipe.packages);
    if (!package) continue;
    Commit& version = versions.emplace_back();
    version.id = fmt::format("{}-{}-{}", release, package->name, package->version);
    version.tag = fmt::format("{} {}", release, upstream_version(package->version));
    version.date = package->date;
    version.author = "Debian";
    version.subject = fmt::format("{} {}", package->name, package->version);
    version.package = package->word();
  }
  if (!versions.empty()) return versions;
  throw UsageError(fmt::format("no release of Debian has {}", fmt::join(recipe.packages, " or ")),
                   fmt::format("{}choose: {}; or give the name of a package",
                               did_you_mean(recipe.name, names_in_debian()), fmt::join(names_in_debian(), ", ")));
}

}  // namespace zerotax::bisect
