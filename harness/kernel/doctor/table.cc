#include "doctor/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"
#include "base/printable.h"
#include "base/wrap.h"

namespace zerotax::doctor {
namespace {

std::size_t count(const std::vector<Row>& rows, Weight weight) {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const Row& row) { return row.finding.weight == weight; }));
}

std::string state_text(const Finding& finding) {
  if (finding.state) return *finding.state;
  return finding.weight == Weight::kUnknown ? finding.state.why() : "n/a: " + finding.state.why();
}

/// A remedy is meant to be copied, so it is never wrapped.
std::string row_text(const Row& row, const Palette& palette) {
  const Finding& finding = row.finding;
  const std::string first = fmt::format(
      "  {:<7} {:<21} ", finding.weight == Weight::kUnknown ? "n/a" : weight_word(finding.weight), row.name);
  const std::string margin(10, ' ');
  std::string text = wrap(state_text(finding), first, std::string(first.size(), ' '));
  const bool prevents = finding.weight == Weight::kStops || finding.weight == Weight::kSpoils;
  if (prevents || finding.weight == Weight::kLimits) {
    text = palette.first_in(text, prevents ? Tone::kWorse : Tone::kDoubtful, weight_word(finding.weight));
  }
  if (!finding.effect.empty()) text += wrap(finding.effect, margin, margin);
  if (!finding.remedy.empty()) text += fmt::format("{}$ {}\n", margin, printable(finding.remedy));
  return text;
}

std::string summary(const std::vector<Row>& rows) {
  const std::size_t stops = count(rows, Weight::kStops);
  const std::size_t spoils = count(rows, Weight::kSpoils);
  const std::size_t limits = count(rows, Weight::kLimits);
  const std::string rest =
      fmt::format(" {} {} what can be measured.", limits, limits == 1 ? "thing limits" : "things limit");
  if (stops > 0) return "This machine cannot measure: see \"stops\"." + rest;
  if (spoils == 0) return "Nothing here would spoil a run." + rest;
  return fmt::format(
      "{} would spoil a run: do not trust times until that is fixed (counts are right, unless stated "
      "otherwise).{}",
      spoils == 1 ? "1 thing" : fmt::format("{} things", spoils), rest);
}

}  // namespace

ExitStatus doctor_status(const std::vector<Row>& rows) {
  if (count(rows, Weight::kStops) > 0) return ExitStatus::kMachine;
  return count(rows, Weight::kSpoils) > 0 ? ExitStatus::kFinding : ExitStatus::kDone;
}

std::string next_step(const std::vector<Row>& rows) {
  for (const Weight weight : {Weight::kStops, Weight::kSpoils}) {
    if (count(rows, weight) == 0) continue;
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
      return row.finding.weight == weight && !row.finding.remedy.empty();
    });
    return found != rows.end() ? found->finding.remedy : "";
  }
  return "zerotax study";
}

std::string doctor_text(const std::vector<Row>& rows, const Palette& palette) {
  std::string text;
  const Row* before = nullptr;
  for (const Row& row : rows) {
    if (before == nullptr || before->topic != row.topic) {
      text += fmt::format("{}{}\n", before == nullptr ? "" : "\n", topic_word(row.topic));
    }
    text += row_text(row, palette);
    before = &row;
  }
  return text + "\n" + wrap(summary(rows), "", "");
}

Json doctor_json(const std::vector<Row>& rows, const Measured<Environment>& environment) {
  Json json;
  json["schema"] = "zerotax.doctor/1";
  json["environment"] = environment;
  const ExitStatus status = doctor_status(rows);
  json["verdict"] = status == ExitStatus::kDone      ? "ready"
                    : status == ExitStatus::kFinding ? "spoiled"
                                                     : "cannot measure";
  json["rows"] = Json::array();
  for (const Row& row : rows) {
    const Finding& finding = row.finding;
    json["rows"].push_back({{"topic", topic_word(row.topic)},
                            {"name", row.name},
                            {"state", static_cast<const Measured<std::string>&>(finding.state)},
                            {"weight", weight_word(finding.weight)},
                            {"effect", finding.effect.empty() ? Json(nullptr) : Json(finding.effect)},
                            {"remedy", finding.remedy.empty() ? Json(nullptr) : Json(finding.remedy)}});
  }
  return json;
}

}  // namespace zerotax::doctor
