#include "base/fields.h"
#include "baseline/document.h"
#include "bisect/document.h"
#include "os/environment.h"
#include "thresholds/document.h"

namespace zerotax::bisect {

ZEROTAX_FIELDS(RecipeTool, program, package)
ZEROTAX_FIELDS(Build, state, seconds, library, reason)

void to_json(Json& json, const Recipe& recipe) {
  json = {
      {"allocator", recipe.name}, {"build", recipe.commands}, {"library", recipe.libraries}, {"beside", recipe.beside}};
  if (!recipe.keep.empty()) json["keep"] = recipe.keep;
}

void from_json(const Json& json, Recipe& recipe) {
  json.at("allocator").get_to(recipe.name);
  for (const Json& command : json.at("build")) {
    recipe.commands.push_back(command.is_string() ? command.get<std::string>()
                                                  : command_of(command.get<std::vector<std::string>>()));
  }
  const std::vector<std::string> none;
  recipe.libraries = json.value("library", none);
  recipe.beside = json.value("beside", none);
  recipe.keep = json.value("keep", none);
  recipe.tools = json.value("tools", std::vector<RecipeTool>());
  recipe.tags = text_field(json, "tags", "");
  recipe.repository = text_field(json, "repository", "");
}

ZEROTAX_FIELDS(Unusable, unusable, timeout_s)
ZEROTAX_FIELDS(MeasuredCommand, name, words, rounds)

void to_json(Json& json, const Grid& grid) {
  if (grid.command) {
    json = {{"command", *grid.command}};
    return;
  }
  json = {{"sizes", grid.sizes}, {"thresholds", grid.thresholds}};
  if (grid.thresholds) json["to_bytes"] = grid.last_bytes();
}

void from_json(const Json& json, Grid& grid) {
  if (json.contains("command")) {
    grid.command = json.at("command").get<MeasuredCommand>();
    return;
  }
  json.at("sizes").get_to(grid.sizes);
  json.at("thresholds").get_to(grid.thresholds);
  grid.to_bytes = json.value("to_bytes", std::uint64_t{0});
}

void to_json(Json& json, const Place& place) {
  json = {
      {"case", place.case_name}, {"size_bytes", place.size_bytes}, {"touch", place.touch}, {"thread", place.thread}};
}

void to_json(Json& json, const Measurement& measurement) {
  if (measurement.program) {
    json = {{"program", *measurement.program}};
    return;
  }
  json = {{"pieces", measurement.pieces}, {"baseline", baseline::to_json(measurement.baseline)}};
}

void from_json(const Json& json, Measurement& measurement) {
  if (json.contains("program")) {
    measurement.program = json.at("program").get<baseline::Program>();
    return;
  }
  measurement.baseline = baseline::baseline_from_json(json.at("baseline"));
  json.at("pieces").get_to(measurement.pieces);
}

void to_json(Json& json, const Version& version) {
  json = {{"state", version.state}, {"reason", version.reason}, {"earlier", version.measured_earlier}};
  write_field(json, "build", version.build);
  if (version.build) {
    json["log"] = version.build->log;
    json["cached"] = version.build->cached;
  }
  write_field(json, "measurement", version.measurement);
}

void from_json(const Json& json, Version& version) {
  json.at("state").get_to(version.state);
  json.at("reason").get_to(version.reason);
  json.at("earlier").get_to(version.measured_earlier);
  read_field(json, "build", version.build);
  if (version.build) {
    json.at("log").get_to(version.build->log);
    json.at("cached").get_to(version.build->cached);
  }
  read_field(json, "measurement", version.measurement);
}

void to_json(Json& json, const VersionPlan& plan) {
  json = {{"repository", plan.repository},
          {"cache", plan.cache},
          {"recipe", plan.recipe},
          {"tools", plan.recipe.tools},
          {"grid", plan.grid},
          {"timeout_s", plan.grid.timeout_s},
          {"jobs", plan.jobs},
          {"build_timeout_s", plan.build_timeout_s},
          {"commits", Json::array()}};
  for (const Commit& commit : plan.commits) json["commits"].push_back({{"id", commit.id}, {"tag", commit.tag}});
}

void from_json(const Json& json, VersionPlan& plan) {
  json.at("repository").get_to(plan.repository);
  json.at("cache").get_to(plan.cache);
  json.at("recipe").get_to(plan.recipe);
  json.at("tools").get_to(plan.recipe.tools);
  json.at("grid").get_to(plan.grid);
  json.at("timeout_s").get_to(plan.grid.timeout_s);
  json.at("jobs").get_to(plan.jobs);
  json.at("build_timeout_s").get_to(plan.build_timeout_s);
  for (const Json& commit : json.at("commits")) {
    plan.commits.push_back({commit.at("id"), commit.at("tag"), "", "", "", {}});
  }
}

std::string key_of(const Recipe& recipe) {
  Json key = recipe;
  key.erase("allocator");
  return json_line(key);
}

std::string key_of(const Grid& grid, std::uint64_t probe) {
  const Environment environment = describe_environment();
  const Json key{ZEROTAX_VERSION, probe, grid, environment.kernel, environment.thp};
  return json_line(key);
}

}  // namespace zerotax::bisect
