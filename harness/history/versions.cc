#include "history/versions.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "base/error.h"
#include "core/allocators.h"
#include "core/metered_run.h"
#include "os/environment.h"

namespace zerotax::history {
namespace {

namespace fs = std::filesystem;

constexpr std::initializer_list<Version::State> kVersionStates{
    Version::State::kMeasured, Version::State::kNotBuilt, Version::State::kNoLibrary,
    Version::State::kTimeout,  Version::State::kUnusable, Version::State::kNotMeasured};

Version::State state_of(Build::State state) {
  switch (state) {
    case Build::State::kNoLibrary:
      return Version::State::kNoLibrary;
    case Build::State::kTimeout:
      return Version::State::kTimeout;
    default:
      return Version::State::kNotBuilt;
  }
}

/// The loader cannot preload a path with a blank: then through a link from a folder that has none.
std::string preloadable(const Workspace& workspace, const Build& build) {
  const fs::path library(build.library);
  if (build.library.find_first_of(" \t\n:") == std::string::npos) return build.library;
  const std::string link = workspace.file(library.parent_path().filename().string());
  std::error_code ignored;
  if (!fs::exists(link, ignored)) fs::create_directory_symlink(library.parent_path(), link);
  return link + "/" + library.filename().string();
}

}  // namespace

const char* word_of(Version::State state) {
  switch (state) {
    case Version::State::kMeasured:
      return "measured";
    case Version::State::kNotBuilt:
      return "not_built";
    case Version::State::kNoLibrary:
      return "no_library";
    case Version::State::kTimeout:
      return "timeout";
    case Version::State::kUnusable:
      return "unusable";
    case Version::State::kNotMeasured:
      return "not_measured";
  }
  return "";
}

const char* text_of(Version::State state) {
  switch (state) {
    case Version::State::kMeasured:
      return "measured";
    case Version::State::kNotBuilt:
      return "does not build";
    case Version::State::kNoLibrary:
      return "builds no library";
    case Version::State::kTimeout:
      return "does not build in time";
    case Version::State::kUnusable:
      return "does not work";
    case Version::State::kNotMeasured:
      return "not measured";
  }
  return "";
}

Json to_json(const Version& version) {
  Json json{{"state", word_of(version.state)}, {"reason", version.reason}, {"earlier", version.measured_earlier}};
  if (version.build) {
    json["build"] = to_json(*version.build);
    json["build"]["folder"] = fs::path(version.build->log).parent_path().string();
    json["build"]["earlier"] = version.build->cached;
  }
  if (version.measurement) json["measurement"] = to_json(*version.measurement);
  return json;
}

Version version_from_json(const Json& json, const Commit& commit) {
  Version version{commit, Version::State::kNotMeasured, json.at("reason"), {}, {}, json.at("earlier"), {}};
  const auto state = std::find_if(std::begin(kVersionStates), std::end(kVersionStates),
                                  [&](Version::State each) { return json.at("state") == word_of(each); });
  if (state == std::end(kVersionStates)) throw std::invalid_argument("unknown state");
  version.state = *state;
  if (json.contains("build")) {
    const Json& build = json.at("build");
    version.build = build_from_json(build, build.at("folder"));
    version.build->cached = build.at("earlier");
  }
  if (json.contains("measurement")) version.measurement = measurement_from_json(json.at("measurement"));
  return version;
}

std::string why_not(const Version& version) {
  const bool has_log = version.build && version.state != Version::State::kUnusable;
  return fmt::format("{}: {}{}", text_of(version.state), version.reason,
                     has_log ? fmt::format(" (log: {})", version.build->log) : "");
}

std::optional<Allocator> Versions::allocator_of(Version& version,
                                                const std::function<void(const char* what)>& watch) const {
  version.build = builder_.build(workspace_, version.commit, [&] { watch("building"); });
  if (version.build->state != Build::State::kBuilt) {
    version.state = state_of(version.build->state);
    version.reason = version.build->reason;
    return std::nullopt;
  }
  return allocator_built(version);
}

std::optional<Allocator> Versions::allocator_built(Version& version) const {
  try {
    return resolve_allocators({builder_.recipe.name + "=" + preloadable(workspace_, *version.build)}, {}).front();
  } catch (const UsageError& problem) {
    version.state = Version::State::kUnusable;
    version.reason = problem.what();
    return std::nullopt;
  }
}

std::string Versions::document_name(const Commit& commit, const Grid& grid) const {
  const Json environment = describe_environment();
  // What else a deterministic metric may depend on.
  const Json key{ZEROTAX_VERSION, hash_of_file(probe_folder() + "/bench-glibc"), grid.json(),
                 environment.value("kernel", Json()), environment.value("thp", Json())};
  return fs::path(builder_.cache.build_folder(commit, builder_.recipe)).filename().string() + "/measured-" +
         digits_of(key.dump()) + ".json";
}

bool Versions::is_known(const Commit& commit, const Grid& grid) const {
  const auto build = builder_.earlier(commit);
  if (!build) return false;
  return build->state != Build::State::kBuilt || builder_.cache.read(document_name(commit, grid)).has_value();
}

Version Versions::measured(const Commit& commit, const Grid& grid,
                           const std::function<void(const char* what)>& watch) const {
  Version version{commit, Version::State::kNotMeasured, {}, {}, {}, false, {}};
  const std::string name = document_name(commit, grid);
  const auto stored = builder_.again ? std::nullopt : builder_.cache.read(name);
  version.build = builder_.earlier(commit);
  if (stored && version.build && version.build->state == Build::State::kBuilt) {
    try {
      version.measurement = measurement_from_json(*stored);
      version.state = Version::State::kMeasured;
      version.measured_earlier = true;
      return version;
    } catch (const std::exception&) {
      version.measurement.reset();  // a damaged file: as if there were none
    }
  }
  const auto allocator = allocator_of(version, watch);
  if (!allocator) return version;
  watch("measuring");
  version.reason = why_unusable(*allocator, grid);
  if (!version.reason.empty()) {
    version.state = Version::State::kUnusable;
    return version;
  }
  version.measurement = measure(*allocator, grid, [&] { watch("measuring"); });
  version.state = Version::State::kMeasured;
  builder_.cache.write(name, to_json(*version.measurement));
  return version;
}

}  // namespace zerotax::history
