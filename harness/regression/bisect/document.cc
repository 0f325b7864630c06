#include "bisect/document.h"

#include "baseline/document.h"
#include "baseline/measurer.h"
#include "bisect/verdict.h"
#include "cli/subcommand.h"
#include "thresholds/document.h"

namespace zerotax::bisect {

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
