#include "upstream/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/size.h"
#include "base/units.h"
#include "core/operation_cost.h"
#include "findings/points.h"
#include "findings/tax.h"

namespace zerotax::upstream {

using findings::env_words;
using findings::is_much;
namespace {

std::string time_cell(std::optional<double> ns) { return ns ? format_ns(*ns) : "n/a"; }

std::string rate_cell(std::optional<double> ns, std::uint64_t bytes) {
  if (!ns || *ns <= 0) return "n/a";
  return format_number(static_cast<double>(bytes) / *ns);
}

std::string fault_cell(std::optional<std::uint64_t> faults) { return faults ? format_count(*faults) : "n/a"; }

std::string row(const Point& point) {
  const std::string size = format_count(point.size_bytes);
  if (!point.is_ok() || point.first() == nullptr) {
    return fmt::format("| {:>13} | {:<18} | {} |  |  |  |  |  |\n", size, allocator_label(point),
                       word_of(point.status));
  }
  const std::uint64_t bytes = point.count(Metric::kRequestedBytes).value_or(point.size_bytes);
  const auto fresh = first_operation_ns(point);
  const auto reused = operation_ns(point);
  return fmt::format("| {:>13} | {:<18} | {:>8} | {:>7} | {:>8} | {:>8} | {:>9} | {:>8} |\n", size,
                     allocator_label(point), time_cell(fresh), rate_cell(fresh, bytes),
                     fault_cell(first_operation_faults(point)), time_cell(reused), rate_cell(reused, bytes),
                     fault_cell(operation_faults(point)));
}

/// Of KnobTrial::effect; nothing if it was not measured.
std::optional<std::uint64_t> effect_in(const Json& figures, const char* key) {
  const auto found = figures.find(key);
  if (found == figures.end() || !found->is_number()) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(found->get<double>()));
}

std::string figure_cell(const Json& figures, const char* key) {
  const auto count = effect_in(figures, key);
  return count ? format_count(*count) : "n/a";
}

std::string knob_row(const std::string& name, const Json& figures, const std::string& verdict) {
  const auto ns = effect_in(figures, "operation_ns");
  return fmt::format("| {} | {} | {} | {} | {} |\n", name, figure_cell(figures, "redundant_zeroed_bytes"),
                     figure_cell(figures, "operation_faults"), ns ? format_ns(static_cast<double>(*ns)) : "n/a",
                     verdict);
}

/// A setting may put another needless thing in the place of this one.
std::string verdict(const Json& effect, std::uint64_t size) {
  if (!effect.at("avoids").get<bool>()) return "still shows";
  const auto redundant = effect_in(effect, "redundant_zeroed_bytes");
  return redundant && is_much(*redundant, size) ? "gone, but the block is zeroed needlessly" : "gone";
}

}  // namespace

double table_touch(const ReportData& data) {
  const Json& evidence = data.finding.evidence;
  const auto least = std::min_element(evidence.begin(), evidence.end(),
                                      [](const Json& a, const Json& b) { return a.at("touch") < b.at("touch"); });
  return least->at("touch");
}

std::string table_thread(const ReportData& data) {
  const Json& evidence = data.finding.evidence;
  // A finding of both threads is shown on the main one; a difference between them, on the worker.
  if (data.finding.rule == "worker-differs") return "worker";
  const bool main =
      std::any_of(evidence.begin(), evidence.end(), [](const Json& each) { return each.at("thread") == "main"; });
  return main ? "main" : "worker";
}

std::string size_table(const ReportData& data) {
  std::vector<const Point*> points;
  for (const Point& point : data.points) {
    if (point.touch == table_touch(data) && point.thread == table_thread(data)) points.push_back(&point);
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const Point* a, const Point* b) { return a->size_bytes < b->size_bytes; });
  std::string text = fmt::format(
      "| {:>13} | {:<18} | {:>8} | {:>7} | {:>8} | {:>8} | {:>9} | {:>8} |\n"
      "|{:->14}:|:{:-<19}|{:->9}:|{:->8}:|{:->9}:|{:->9}:|{:->10}:|{:->9}:|\n",
      "size (bytes)", "allocator", "fresh", "GB/s", "faults", "reused", "GB/s", "faults", "", "", "", "", "", "", "",
      "");
  for (const Point* point : points) text += row(*point);
  return text;
}

std::string knob_table(const ReportData& data) {
  if (data.knobs.empty()) return "";
  std::string text =
      "| setting | redundant bytes | page faults | time | finding "
      "|\n|:--------|----------------:|------------:|-----:|:--------|\n";
  text += knob_row("(none)", data.without, "shows");
  for (const KnobTrial& trial : data.knobs) {
    const std::string name = env_words(trial.env);
    if (is_not_available(trial.effect)) {
      text += fmt::format("| {} | n/a | n/a | n/a | {} |\n", name, text_field(trial.effect, "na", ""));
    } else {
      text += knob_row(name, trial.effect, verdict(trial.effect, data.size_bytes));
    }
  }
  return text;
}

std::string threshold_list(const ReportData& data) {
  std::string text;
  for (const Json& threshold : data.thresholds) {
    const bool exact = threshold.at("exact").get<bool>();
    const auto at = threshold.at("at_bytes").get<std::uint64_t>();
    text += exact ? fmt::format("- {} bytes", format_count(at))
                  : fmt::format("- somewhere from {} to {} bytes",
                                format_count(threshold.at("after_bytes").get<std::uint64_t>() + 1), format_count(at));
    std::string changes;
    for (const Json& change : threshold.at("changes"))
      changes += (changes.empty() ? ": " : "; ") + change.get<std::string>();
    text += changes + "\n";
  }
  return text.empty() ? "There is none: it behaves alike over the whole range that was searched.\n" : text;
}

}  // namespace zerotax::upstream
