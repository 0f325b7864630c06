#include "bisect/document.h"

#include "base/fields.h"
#include "baseline/document.h"
#include "baseline/measurer.h"
#include "bisect/table.h"
#include "cli/subcommand.h"
#include "os/environment.h"
#include "thresholds/document.h"

namespace zerotax::bisect {

void to_json(Json& json, const Recipe& recipe) {
  json = RecipeEntry{recipe.name, recipe.commands, recipe.libraries, recipe.beside, recipe.keep};
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

void to_json(Json& json, const Grid& grid) {
  GridEntry entry;
  entry.command = grid.command;
  if (!grid.command) {
    entry.sizes = grid.sizes;
    entry.thresholds = grid.thresholds;
    if (grid.thresholds) entry.to_bytes = grid.last_bytes();
  }
  json = entry;
}

void from_json(const Json& json, Grid& grid) {
  const auto entry = json.get<GridEntry>();
  grid.command = entry.command;
  if (grid.command) return;
  grid.sizes = entry.sizes.value();
  grid.thresholds = entry.thresholds.value();
  grid.to_bytes = entry.to_bytes.value_or(0);
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

void begin(bool complete, const Request& request, DocumentBegin& document) {
  document.zerotax_version = ZEROTAX_VERSION;
  document.state = completion(complete);
  document.started = request.started;
  document.command = Subcommand::command_line;
  document.environment = request.environment;
  document.repository = request.repository;
  document.recipe = request.recipe;
  (request.recipe.is_of_program() ? document.program : document.allocator) = request.recipe.name;
}

CommitEntry entry_of(const Commit& commit) {
  const bool is_package = !commit.package.empty();
  return {known_if(!is_package, commit.id, "a package of Debian"),
          known_if(!commit.tag.empty(), commit.tag, "asked for by its commit"),
          commit.date,
          commit.author,
          commit.subject,
          commit.name(),
          commit.package};
}

AnsweredCommit entry_of(const Commit& commit, const Answer& answer) {
  return {entry_of(commit), answer.kind, answer.value};
}

std::vector<AnsweredCommit> entries_of(const std::vector<BisectStep>& steps) {
  std::vector<AnsweredCommit> entries;
  entries.reserve(steps.size());
  for (const BisectStep& step : steps) entries.push_back(entry_of(step.commit, step.answer));
  return entries;
}

Measured<BuildEntry> build_of(const Version& version) {
  if (!version.build) return NotAvailable{version.reason.empty() ? "not tried" : version.reason};
  const Build& build = *version.build;
  if (build.log.empty()) return NotAvailable{"a package of Debian"};
  return BuildEntry{build.state, build.seconds, build.cached, build.log};
}

VersionEntry entry_of(const Row& row) {
  const Version& version = row.version;
  VersionEntry entry;
  static_cast<CommitEntry&>(entry) = entry_of(version.commit);
  entry.state = version.state;
  entry.state_words = text_of(version.state);
  entry.reason = version.reason;
  entry.build = build_of(version);
  entry.sentence = sentence_of(row);
  entry.changed = row.is_change();
  if (row.difference) entry.compared_with = row.compared_with;
  entry.difference = row.difference;
  if (!version.measurement) return entry;
  entry.measured_earlier = version.measured_earlier;
  entry.host = version.host;
  entry.program = version.measurement->program;
  if (entry.program) return entry;
  entry.pieces = version.measurement->pieces;
  entry.baseline = JsonOf<baseline::BaselineEntry>{baseline::to_json(version.measurement->baseline)};
  return entry;
}

FoundCommit entry_of(const Bisection& found, const BisectOutcome& outcome, bool of_program) {
  FoundCommit entry;
  static_cast<AnsweredCommit&>(entry) = entry_of(*found.first, outcome.after_answer);
  entry.diffstat = outcome.diffstat;
  entry.before = entry_of(outcome.before, outcome.before_answer);
  entry.library =
      known_if(!outcome.library.empty(), outcome.library, of_program ? "it is a program" : "the version was not built");
  entry.version = known_if(!outcome.version.empty(), outcome.version,
                           of_program ? "it is a program" : "the library does not state its version");
  entry.difference = {outcome.difference, "one of the two versions was not measured"};
  for (const Finding& finding : outcome.findings) {
    entry.findings.push_back({finding.name, finding.title, finding.sentence});
  }
  return entry;
}

}  // namespace

HistoryDocument history_document(const HistoryRequest& request, const History& history) {
  HistoryDocument document;
  document.schema = "zerotax.history/1";
  begin(history.complete, request, document);
  document.environments = history.environments;
  document.selection = request.selection;
  document.grid = request.grid;
  if (!request.grid.command && request.grid.thresholds) {
    document.range = SearchedSizes{baseline::baseline_range().from, request.grid.last_bytes()};
  }
  if (request.grid.command) {
    for (const record::runs::MetricRow& row : record::runs::metric_rows()) {
      if (!is_of_resident(row.metric)) document.words[row.key] = row.name;
    }
  } else {
    for (const auto& doing : thresholds::doings()) document.words[doing.key] = doing.words;
  }
  document.title = title_of(request, history);
  document.sentence = document.title + ".";
  document.notes = notes_of(request, history);
  for (const Row& row : history.rows) document.versions.push_back(entry_of(row));
  return document;
}

BisectDocument bisect_document(const BisectRequest& request, const Bisection& found, const BisectOutcome* outcome) {
  BisectDocument document;
  document.schema = "zerotax.bisect/1";
  begin(found.complete, request, document);
  const Question& question = request.question;
  document.question = {text_of(question), question.grid.timeout_s, {}, question.grid};
  if (question.is_of_a_point()) {
    const Place& place = question.place;
    document.question.place = baseline::PointIdentity{place.case_name, place.size_bytes, place.touch, place.thread};
  }
  document.good = entry_of(found.good, found.good_answer);
  document.bad = entry_of(found.bad, found.bad_answer);
  document.between = found.between;
  document.steps = entries_of(found.steps);
  document.sentence = sentence_of(found, outcome);
  Measured<FoundCommit> first = NotAvailable{"the commit was not found"};
  if (outcome != nullptr) first = entry_of(found, *outcome, request.recipe.is_of_program());
  document.first_bad = found.is_fix ? NotAvailable{"the good version is the newer one"} : first;
  document.first_good = found.is_fix ? first : NotAvailable{"the bad version is the newer one"};
  for (const MergeFound& merge : found.merges) {
    document.merges.push_back({merge.commit.id, entries_of(merge.parents), merge.sentence});
  }
  document.origin = NotAvailable{found.merges.empty() ? "no merge was found" : found.merges.back().sentence};
  if (found.origin) document.origin = entry_of(found.origin->commit, found.origin->answer);
  for (const Commit& commit : found.candidates) {
    const Answer* answer = found.answer_of(commit.id);
    document.candidates.push_back(entry_of(commit, answer != nullptr ? *answer : Answer{}));
  }
  return document;
}

}  // namespace zerotax::bisect
