#pragma once

#include <string>

#include "bisect/bisect.h"
#include "bisect/history.h"
#include "bisect/table.h"

namespace zerotax::bisect {

NLOHMANN_JSON_SERIALIZE_ENUM(Build::State, {{Build::State::kTimeout, "timeout"},
                                            {Build::State::kBuilt, "built"},
                                            {Build::State::kFailed, "failed"},
                                            {Build::State::kNoLibrary, "no_library"},
                                            {Build::State::kNoProgram, "no_program"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Version::State, {{Version::State::kNotMeasured, "not_measured"},
                                              {Version::State::kMeasured, "measured"},
                                              {Version::State::kNotBuilt, "not_built"},
                                              {Version::State::kNoLibrary, "no_library"},
                                              {Version::State::kTimeout, "timeout"},
                                              {Version::State::kUnusable, "unusable"},
                                              {Version::State::kNoProgram, "no_program"}})
/// The object of "zerotax.history/1" (results/schema/history.schema.json).
Json history_json(const HistoryRequest& request, const History& history);

/// The object of "zerotax.bisect/1" (results/schema/bisect.schema.json). `outcome` is nullptr if no commit was found.
Json bisect_json(const BisectRequest& request, const Bisection& found, const BisectOutcome* outcome);

// What is kept for later runs, or handed from one process to another (kept_document.cc). from_json throws a Json
// exception or std::invalid_argument for what to_json has not made; a damaged file counts as none. The first of the
// words above stands for one that is unknown.

/// {"allocator", "build", "library", "beside"}, and back; from its file, too (results/schema/recipe.schema.json).
void to_json(Json& json, const Recipe& recipe);
void from_json(const Json& json, Recipe& recipe);
/// What the measured values depend on, without the time limit.
void to_json(Json& json, const Grid& grid);
void from_json(const Json& json, Grid& grid);
/// {"case", "size_bytes", "touch", "thread"}.
void to_json(Json& json, const Place& place);
/// The paths of its library and log are those of the process that built it.
void to_json(Json& json, const Build& build);
void from_json(const Json& json, Build& build);
void to_json(Json& json, const Measurement& measurement);
void from_json(const Json& json, Measurement& measurement);
void to_json(Json& json, const Unusable& version);
void from_json(const Json& json, Unusable& version);
/// Without its commit.
void to_json(Json& json, const Version& version);
void from_json(const Json& json, Version& version);
void to_json(Json& json, const VersionPlan& plan);
void from_json(const Json& json, VersionPlan& plan);

/// All that a build depends on. Not the name of the recipe: that of --build is the name of the repository's folder, and
/// a clone may have another.
std::string key_of(const Recipe& recipe);
/// All that deterministic metrics may depend on besides the library. `probe`: a hash of the probe.
std::string key_of(const Grid& grid, std::uint64_t probe);

}  // namespace zerotax::bisect
