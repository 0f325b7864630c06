#include "history/document.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "check/document.h"
#include "check/plan.h"
#include "cli/subcommand.h"
#include "os/environment.h"
#include "thresholds/map.h"

namespace zerotax::history {
namespace {

std::string sentence_of_row(const Row& row) {
  const Version& version = row.version;
  if (!version.measurement) return why_not(version);
  if (row.difference) return row.difference->sentence;
  if (row.compared_with.empty()) return "the first that was measured";
  return fmt::format("interrupted before it was compared with {}", row.compared_with);
}

Json row_json(const Row& row) {
  const Version& version = row.version;
  Json json = to_json(version.commit);
  json["name"] = version.commit.name();
  json["state"] = word_of(version.state);
  json["state_words"] = text_of(version.state);
  if (!version.reason.empty()) json["reason"] = version.reason;
  if (version.build) {
    json["build"] = {{"state", word_of(version.build->state)},
                     {"seconds", version.build->seconds},
                     {"earlier", version.build->cached},
                     {"log", version.build->log}};
  } else {
    json["build"] = not_available(version.reason.empty() ? "not tried" : version.reason);
  }
  json["sentence"] = sentence_of_row(row);
  json["changed"] = row.difference && row.difference->is_change();
  if (row.difference) {
    json["compared_with"] = row.compared_with;
    json["difference"] = to_json(*row.difference);
  }
  if (version.measurement) {
    const Json measured = to_json(*version.measurement);
    json["measured_earlier"] = version.measured_earlier;
    if (!version.host.empty()) json["host"] = version.host;
    json["pieces"] = measured.at("pieces");
    json["baseline"] = measured.at("baseline");
  }
  return json;
}

std::string title_of_history(const std::string& allocator, const std::vector<Row>& rows) {
  const auto count = [&](const auto& is) {
    return static_cast<std::uint64_t>(std::count_if(rows.begin(), rows.end(), is));
  };
  const std::uint64_t measured = count([](const Row& row) { return row.version.measurement.has_value(); });
  const std::uint64_t changed = count([](const Row& row) { return row.difference && row.difference->is_change(); });
  std::string title = fmt::format("{}: {} of {} changed what calloc and free do", allocator, changed,
                                  format_counted(rows.size(), "version"));
  if (measured < rows.size()) title += fmt::format("; {} could not be measured", rows.size() - measured);
  return title;
}

/// What one has to know to read the table and the figure.
Json notes_of_history(const HistoryRequest& request, const std::vector<Row>& rows) {
  Json notes = Json::array();
  notes.push_back("Each version is compared with the one measured before it; deterministic metrics alone, no times.");
  if (!request.grid.thresholds) notes.push_back("Thresholds were not searched: only the measured sizes are shown.");
  const bool gaps = std::any_of(rows.begin(), rows.end(), [](const Row& row) { return !row.version.measurement; });
  if (gaps) notes.push_back("A version without a bar was not measured.");
  return notes;
}

}  // namespace

Json document_head(const char* schema, bool complete, const std::string& started, const std::string& repository,
                   const Recipe& recipe) {
  return {{"schema", schema},
          {"zerotax_version", ZEROTAX_VERSION},
          {"state", complete ? "complete" : "interrupted"},
          {"started", started},
          {"command", Subcommand::command_line},
          {"environment", describe_environment()},
          {"repository", repository},
          {"allocator", recipe.name},
          {"recipe", recipe.json()}};
}

Json history_json(const HistoryRequest& request, const History& history) {
  const check::BaselineRange range = check::baseline_range();
  Json json = document_head("zerotax.history/1", history.complete, request.started, request.repository, request.recipe);
  if (!history.environments.empty()) json["environments"] = history.environments;
  json["selection"] = request.selection;
  json["grid"] = request.grid.json();
  if (request.grid.thresholds) json["range"] = {{"from_bytes", range.from}, {"to_bytes", request.grid.last_bytes()}};
  json["words"] = Json::object();
  for (const auto& doing : thresholds::doings()) json["words"][doing.key] = doing.words;
  json["title"] = title_of_history(request.recipe.name, history.rows);
  json["sentence"] = json.at("title").get<std::string>() + ".";
  json["notes"] = notes_of_history(request, history.rows);
  json["versions"] = Json::array();
  for (const Row& row : history.rows) json["versions"].push_back(row_json(row));
  return json;
}

}  // namespace zerotax::history
