#include "doctor/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/lines.h"
#include "base/printable.h"
#include "base/units.h"

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

/// Remedies are meant to be copied, so they are never wrapped.
std::string row_text(const Row& row, const Palette& palette) {
  const Finding& finding = row.finding;
  const std::string first =
      fmt::format("  {:<7} {:<21} ", finding.weight == Weight::kUnknown ? "n/a" : word(finding.weight), row.name);
  const std::string margin(10, ' ');
  std::string text = wrap(state_text(finding), first, std::string(first.size(), ' '));
  const bool prevents = finding.weight == Weight::kStops || finding.weight == Weight::kSpoils;
  if (prevents || finding.weight == Weight::kLimits) {
    text = palette.first_in(text, prevents ? Tone::kWorse : Tone::kDoubtful, word(finding.weight));
  }
  if (!finding.effect.empty()) text += wrap(finding.effect, margin, margin);
  if (!finding.remedy.empty()) text += fmt::format("{}$ {}\n", margin, printable(finding.remedy));
  return text;
}

/// The rows with these weights, in the order of the weights.
std::vector<const Row*> rows_of(const std::vector<Row>& rows, std::initializer_list<Weight> weights) {
  std::vector<const Row*> found;
  for (const Weight weight : weights) {
    for (const Row& row : rows) {
      if (row.finding.weight == weight) found.push_back(&row);
    }
  }
  return found;
}

std::string names_of(const std::vector<const Row*>& rows) {
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (const Row* row : rows) names.push_back(row->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string summary(const std::vector<Row>& rows) {
  const std::vector<const Row*> stops = rows_of(rows, {Weight::kStops});
  const std::vector<const Row*> spoils = rows_of(rows, {Weight::kSpoils});
  const std::size_t limits = count(rows, Weight::kLimits);
  const std::string rest =
      limits == 0 ? " Nothing limits what can be measured."
                  : fmt::format(" {} what can be measured.", format_counted(limits, "thing limits", "things limit"));
  if (!stops.empty()) return fmt::format("This machine cannot measure: {}.", names_of(stops)) + rest;
  if (spoils.empty()) return "This machine is ready: nothing would spoil a run." + rest;
  return fmt::format(
      "{} on this machine would spoil a run: {}. Do not trust times before {} fixed; counts are right, "
      "unless stated otherwise.{}",
      format_counted(spoils.size(), "thing"), names_of(spoils), spoils.size() == 1 ? "it is" : "they are", rest);
}

/// The remedies of the most severe rows. If nothing stops or spoils a run, a study is the only step.
std::vector<Answer::Step> steps(const std::vector<Row>& rows) {
  constexpr std::size_t kMost = 3;
  const bool stops = count(rows, Weight::kStops) != 0;
  std::vector<Answer::Step> all;
  for (const Row* row : rows_of(rows, {stops ? Weight::kStops : Weight::kSpoils})) {
    if (row->finding.remedy.empty() || all.size() == kMost) continue;
    all.push_back({row->finding.remedy, fmt::format("for \"{}\":", row->name)});
  }
  if (doctor_status(rows) == ExitStatus::kDone) all.push_back({"zerotax study"});
  return all;
}

}  // namespace

ExitStatus doctor_status(const std::vector<Row>& rows) {
  if (count(rows, Weight::kStops) > 0) return ExitStatus::kMachine;
  return count(rows, Weight::kSpoils) > 0 ? ExitStatus::kFinding : ExitStatus::kDone;
}

Answer doctor_answer(const std::vector<Row>& rows) {
  constexpr std::size_t kLongestState = 50;
  Answer answer;
  answer.headline = summary(rows);
  Table table({{"effect"}, {"check"}, {"state"}});
  const std::vector<const Row*> found = rows_of(rows, {Weight::kStops, Weight::kSpoils, Weight::kLimits});
  for (const Row* row : found) {
    table.add({word(row->finding.weight), row->name, first_characters(state_text(row->finding), kLongestState)});
  }
  answer.table = std::move(table);
  if (!found.empty()) {
    answer.where = fmt::format("\"{}\" affects {}.", found.front()->name, found.front()->finding.effect);
  }
  answer.steps = steps(rows);
  if (const std::vector<const Row*> unknown = rows_of(rows, {Weight::kUnknown}); !unknown.empty()) {
    answer.warnings = {fmt::format("{} unknown here: {}.",
                                   unknown.size() == 1 ? "1 state is" : fmt::format("{} states are", unknown.size()),
                                   names_of(unknown))};
  }
  answer.more = fmt::format("All {} with their effects and remedies", format_counted(rows.size(), "check"));
  return answer;
}

std::string doctor_text(const std::vector<Row>& rows, const Palette& palette) {
  std::string text = wrap(summary(rows));
  const Row* before = nullptr;
  for (const Row& row : rows) {
    if (before == nullptr || before->topic != row.topic) text += fmt::format("\n{}\n", word(row.topic));
    text += row_text(row, palette);
    before = &row;
  }
  return text;
}

Doctor doctor_document(const std::vector<Row>& rows, const Measured<Environment>& environment) {
  const ExitStatus status = doctor_status(rows);
  const char* verdict = status == ExitStatus::kDone      ? "ready"
                        : status == ExitStatus::kFinding ? "spoiled"
                                                         : "cannot measure";
  return {"zerotax.doctor/1", environment, verdict, rows};
}

}  // namespace zerotax::doctor
