#include "bisect/debian.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/nearest.h"
#include "judge/projects.h"
#include "run/debian_library.h"
#include "run/debian_packages.h"

namespace zerotax::bisect {
namespace {

/// "3.0.1" of "1:3.0.1+ds-2.1": without the epoch, and without what Debian adds (deb-version(7)).
std::string upstream_version(std::string version) {
  version.erase(0, version.find(':') == std::string::npos ? 0 : version.find(':') + 1);
  version.erase(std::min(version.rfind('-'), version.size()));
  version.erase(std::min(version.find_first_of("+~"), version.size()));
  return version;
}

}  // namespace

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
