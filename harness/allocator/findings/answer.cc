#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/lines.h"
#include "base/units.h"
#include "findings/findings.h"
#include "findings/summary.h"
#include "findings/summary_words.h"

namespace zerotax::findings {
namespace {

using Ranked = std::pair<const AllocatorFindings*, const Finding*>;

/// Sorts findings by severity. Among equal severities, the findings of each allocator keep their order, the most costly
/// first.
std::vector<Ranked> ranked(const std::vector<AllocatorFindings>& all) {
  std::vector<Ranked> order;
  for (const AllocatorFindings& one : all) {
    for (const Finding& finding : one.findings) order.emplace_back(&one, &finding);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Ranked& a, const Ranked& b) { return a.second->severity > b.second->severity; });
  return order;
}

/// Findings of low severity get rows only if there are no others.
Table findings_table(const std::vector<Ranked>& order, const Palette& palette) {
  Table table({{"finding", Unit::kText, 40}, {"sizes", Unit::kText, 20}, {"severity", Unit::kText}});
  for (const auto& [one, finding] : order) {
    if (finding->severity == Severity::kLow && order.front().second->severity != Severity::kLow) break;
    const std::string severity = severity_word(finding->severity);
    const Tone tone = finding->severity == Severity::kHigh ? Tone::kWorse : Tone::kDoubtful;
    table.add({first_characters(finding_id(one->allocator, *finding), 46),
               range_text(finding->from_bytes, finding->to_bytes),
               finding->severity == Severity::kLow ? Cell(severity) : Cell::colored(palette(tone, severity))});
  }
  return table;
}

std::string without_backticks(std::string text) {
  std::erase(text, '`');
  return text;
}

}  // namespace

Answer findings_answer(const std::vector<AllocatorFindings>& all, const std::vector<Point>& points,
                       const std::string& run, const std::vector<std::string>& notes, const Palette& palette) {
  const std::vector<Ranked> order = ranked(all);
  Answer answer;
  answer.warnings = notes;
  if (order.empty()) {
    answer.headline = fmt::format("{} has no findings: none of {} applies to {} of {}.", run,
                                  format_counted(FindingRule::all().size(), "rule"),
                                  format_counted(points.size(), "point"), format_counted(all.size(), "allocator"));
    return answer;
  }
  const auto& [one, worst] = order.front();
  answer.headline = fmt::format("{} has {}. Worst: {}: {}.", run, findings_count(all),
                                one->name() + one->settings(" with "), worst->title);
  answer.table = findings_table(order, palette);
  answer.where = without_backticks(worst->sentence);
  const KnownRemedies remedies = remedies_of(*one, *worst);
  answer.steps.push_back({"", remedies.empty() ? fmt::format("No setting or version is known that avoids {}.",
                                                             finding_id(one->allocator, *worst))
                                               : without_backticks(remedies.front().text)});
  if (const std::string report = next_step(all, points); !report.empty()) {
    add_alternative(answer.steps, {report, "write a bug report:"});
  }
  answer.more = "All findings, with evidence and remedies";
  return answer;
}

namespace {

/// Returns a short form such as "every size", "64 KiB to 28 MiB" or "3 ranges to 1 GiB".
std::string short_ranges(const SizeRanges& ranges) {
  if (ranges.known.empty()) return "unknown";
  if (ranges.spans.empty()) return "never";
  const SizeSpan& first = ranges.spans.front();
  if (ranges.spans.size() > 1) {
    return fmt::format("{} to {}", format_counted(ranges.spans.size(), "range"), format_size(ranges.spans.back().to));
  }
  return ranges.unknown.empty() && ranges.spans.front().from == ranges.known.front() &&
                 ranges.spans.front().to == ranges.known.back() && ranges.known.size() > 1
             ? "every size"
             : range_text(first.from, first.to);
}

Table summary_table(const Summary& summary) {
  Table table({{"allocator", Unit::kText, 22},
               {"needless zeroing", Unit::kText, 18},
               {"worst at", Unit::kBytes, 9},
               {"one calloc", Unit::kNs, 11},
               {"× fastest", Unit::kRatio, 10}});
  for (const std::size_t id : summary.ranking) {
    const AllocatorTax& tax = summary.verdicts.allocators[id];
    std::vector<Cell> cells{first_characters(tax.label, 26), short_ranges(tax.redundant)};
    const auto& spans = tax.redundant.spans;
    const PointTax* const worst = tax.worst ? &summary.verdicts.points[*tax.worst] : nullptr;
    cells.insert(cells.end(), {worst != nullptr ? Cell(worst->size_bytes)
                               : spans.empty()  ? Cell::not_available()
                                                : Cell(spans.back().to),
                               worst != nullptr && worst->calloc_ns ? Cell(*worst->calloc_ns) : Cell::not_available(),
                               worst != nullptr && worst->ratio ? Cell(*worst->ratio) : Cell::not_available()});
    table.add(std::move(cells));
  }
  return table;
}

std::string who_zeroes(const Summary& summary) {
  std::vector<std::string> labels;
  for (const std::size_t id : summary.ranking) {
    const AllocatorTax& tax = summary.verdicts.allocators[id];
    if (!tax.redundant.spans.empty()) labels.push_back(tax.allocator);
  }
  const std::string all = format_counted(summary.verdicts.allocators.size(), "allocator");
  if (labels.empty()) return fmt::format("None of {} zeroes memory needlessly in the measured points.", all);
  return fmt::format("{} of {} {} memory needlessly: {}.", labels.size(), all, labels.size() == 1 ? "zeroes" : "zero",
                     listed(labels));
}

/// Returns a step that names ways to avoid needless zeroing, for the worst allocator with known ways.
std::vector<Answer::Step> avoid_steps(const Summary& summary) {
  for (const std::size_t id : summary.ranking) {
    const auto& avoid = summary.avoid[id];
    if (!avoid || avoid->empty()) continue;
    const std::string& allocator = summary.verdicts.allocators[id].allocator;
    return {{"", fmt::format("To avoid the zeroing of {}: {}.", allocator,
                             without_backticks(remedies_line(allocator, *avoid)))}};
  }
  return {};
}

}  // namespace

Answer summary_answer(const Summary& summary) {
  Answer answer{.headline = who_zeroes(summary), .steps = avoid_steps(summary)};
  for (const SummarySentence& sentence : summary.sentences) {
    if (sentence.part == SummaryPart::kHeadline) answer.where = without_backticks(sentence.text);
    // Without times, the headline is the first lead sentence, so it is not repeated as the worst case.
    if (sentence.part == SummaryPart::kLead && sentence.text == answer.where) answer.where.clear();
    if (sentence.part == SummaryPart::kWarning) answer.warnings.push_back(sentence.text);
    if (sentence.part != SummaryPart::kBroken) continue;
    // The first broken promise is already the headline of the answer.
    const std::string text = sentence.subject + " " + sentence.text;
    if (text != answer.where) answer.warnings.push_back(text);
  }
  if (!summary.verdicts.allocators.empty()) answer.table = summary_table(summary);
  if (summary.run.times_left_out) answer.warnings.push_back(*summary.run.times_left_out);
  answer.legend = fmt::format(
      "From {}. Needless zeroing: calloc writes zeros over memory that is zero already, in blocks that the program "
      "leaves unwritten. × fastest: time relative to the fastest allocator at that size.",
      format_counted(summary.run.points, "point"));
  answer.more = "Sentences on all allocators, with remedies";
  return answer;
}

}  // namespace zerotax::findings
