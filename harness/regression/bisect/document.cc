#include "bisect/document.h"

#include "base/fields.h"
#include "baseline/document.h"
#include "baseline/measurer.h"
#include "bisect/table.h"
#include "cli/subcommand.h"
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

namespace {

/// The keys that every document of this room begins with.
Json document_head(const char* schema, bool complete, const Request& request) {
  Json json = {{"schema", schema},
               {"zerotax_version", ZEROTAX_VERSION},
               {"state", complete ? "complete" : "interrupted"},
               {"started", request.started},
               {"command", Subcommand::command_line},
               {"environment", request.environment},
               {"repository", request.repository},
               {"recipe", request.recipe}};
  json[request.recipe.is_of_program() ? "program" : "allocator"] = request.recipe.name;
  return json;
}

Json commit_json(const Commit& commit) {
  const bool is_package = !commit.package.empty();
  Json json{{"commit", is_package ? not_available("a package of Debian") : Json(commit.id)},
            {"tag", commit.tag.empty() ? not_available("asked for by its commit") : Json(commit.tag)},
            {"date", commit.date},
            {"author", commit.author},
            {"subject", commit.subject},
            {"name", commit.name()}};
  if (is_package) json["package"] = commit.package;
  return json;
}

Json commit_json(const Commit& commit, const Answer& answer) {
  Json json = commit_json(commit);
  json["answer"] = word_of(answer.kind);
  json["value"] = answer.value;
  return json;
}

Json steps_json(const std::vector<BisectStep>& steps) {
  Json json = Json::array();
  for (const BisectStep& step : steps) json.push_back(commit_json(step.commit, step.answer));
  return json;
}

Json difference_json(const Difference& difference) {
  Json json{{"verdict", difference.verdict},
            {"sentence", difference.sentence},
            {"changes", difference.changes},
            {"unsteady", difference.unsteady}};
  return json;
}

Json build_json(const Version& version) {
  if (!version.build) return not_available(version.reason.empty() ? "not tried" : version.reason);
  const Build& build = *version.build;
  if (build.log.empty()) return not_available("a package of Debian");
  return {{"state", build.state}, {"seconds", build.seconds}, {"earlier", build.cached}, {"log", build.log}};
}

Json row_json(const Row& row) {
  const Version& version = row.version;
  Json json = commit_json(version.commit);
  json["state"] = version.state;
  json["state_words"] = text_of(version.state);
  if (!version.reason.empty()) json["reason"] = version.reason;
  json["build"] = build_json(version);
  json["sentence"] = sentence_of(row);
  json["changed"] = row.is_change();
  if (row.difference) {
    json["compared_with"] = row.compared_with;
    json["difference"] = difference_json(*row.difference);
  }
  if (version.measurement) {
    json["measured_earlier"] = version.measured_earlier;
    if (!version.host.empty()) json["host"] = version.host;
    json.update(Json(*version.measurement));
  }
  return json;
}

Json outcome_json(const Bisection& found, const BisectOutcome& outcome, bool of_program) {
  Json json = commit_json(*found.first, outcome.after_answer);
  json["diffstat"] = outcome.diffstat;
  json["before"] = commit_json(outcome.before, outcome.before_answer);
  const char* const no_library = of_program ? "it is a program" : "it was not built";
  const char* const no_version = of_program ? "it is a program" : "the library states none";
  json["library"] = outcome.library.empty() ? not_available(no_library) : Json(outcome.library);
  json["version"] = outcome.version.empty() ? not_available(no_version) : Json(outcome.version);
  json["difference"] =
      outcome.difference ? difference_json(*outcome.difference) : not_available("one of the two was not measured");
  json["findings"] = Json::array();
  for (const Finding& finding : outcome.findings) {
    json["findings"].push_back({{"name", finding.name}, {"title", finding.title}, {"sentence", finding.sentence}});
  }
  return json;
}

}  // namespace

Json history_json(const HistoryRequest& request, const History& history) {
  Json json = document_head("zerotax.history/1", history.complete, request);
  if (!history.environments.empty()) json["environments"] = history.environments;
  json["selection"] = request.selection;
  json["grid"] = request.grid;
  if (!request.grid.command && request.grid.thresholds) {
    json["range"] = {{"from_bytes", baseline::baseline_range().from}, {"to_bytes", request.grid.last_bytes()}};
  }
  if (request.grid.command) {
    for (const record::runs::MetricRow& row : record::runs::metric_rows()) json["words"][row.key] = row.name;
  } else {
    for (const auto& doing : thresholds::doings()) json["words"][doing.key] = doing.words;
  }
  const std::string title = title_of(request, history);
  json["title"] = title;
  json["sentence"] = title + ".";
  json["notes"] = notes_of(request, history);
  json["versions"] = Json::array();
  for (const Row& row : history.rows) json["versions"].push_back(row_json(row));
  return json;
}

Json bisect_json(const BisectRequest& request, const Bisection& found, const BisectOutcome* outcome) {
  Json json = document_head("zerotax.bisect/1", found.complete, request);
  const Question& question = request.question;
  json["question"] = {{"text", text_of(question)}, {"timeout_s", question.grid.timeout_s}};
  if (question.is_of_a_point()) json["question"]["place"] = question.place;
  json["question"]["grid"] = question.grid;
  json["good"] = commit_json(found.good, found.good_answer);
  json["bad"] = commit_json(found.bad, found.bad_answer);
  json["between"] = found.between;
  json["steps"] = steps_json(found.steps);
  json["sentence"] = sentence_of(found, outcome);
  const Json first = outcome != nullptr ? outcome_json(found, *outcome, request.recipe.is_of_program())
                                        : not_available("it was not found");
  json["first_bad"] = found.is_fix ? not_available("the good version is the newer one") : first;
  json["first_good"] = found.is_fix ? first : not_available("the bad version is the newer one");
  json["merges"] = Json::array();
  for (const MergeFound& merge : found.merges) {
    json["merges"].push_back(
        {{"commit", merge.commit.id}, {"parents", steps_json(merge.parents)}, {"sentence", merge.sentence}});
  }
  json["origin"] = found.origin           ? commit_json(found.origin->commit, found.origin->answer)
                   : found.merges.empty() ? not_available("no merge was found")
                                          : not_available(found.merges.back().sentence);
  json["candidates"] = Json::array();
  for (const Commit& commit : found.candidates) {
    const Answer* answer = found.answer_of(commit.id);
    json["candidates"].push_back(commit_json(commit, answer != nullptr ? *answer : Answer{}));
  }
  return json;
}

}  // namespace zerotax::bisect
