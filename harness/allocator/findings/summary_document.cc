#include "findings/summary_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/units.h"
#include "findings/summary_words.h"
#include "os/page.h"

namespace zerotax::findings {
namespace {

RangesEntry entry_of(const SizeRanges& ranges) {
  return {ranges.word(), ranges.unknown.empty(), ranges.spans, ranges.unknown, ranges_text(ranges)};
}

/// Returns yes, some, no or unknown: whether the later calls of a point are redundant.
std::string redundant_word(const PointTax& point) {
  if (!point.calls || point.calls->empty()) return word(point.redundant());
  std::uint64_t ops = 0;
  for (const RedundantCalls& calls : *point.calls) ops += calls.ops;
  return ops == point.calls->front().of_ops ? word(point.redundant()) : "some";
}

Measured<Worst> worst_of(const Verdicts& verdicts, const AllocatorTax& tax) {
  if (!tax.worst) return NotAvailable{"nothing was measured for comparison"};
  constexpr const char* kAlone = "no other allocator was measured there";
  const PointTax& worst = verdicts.points[*tax.worst];
  return Worst{worst.size_bytes,           {worst.calloc_ns, "not timed"}, {worst.fastest, kAlone},
               {worst.fastest_ns, kAlone}, {worst.ratio, kAlone},          worst_text(verdicts, worst)};
}

std::vector<HeadlineCell> headline_of(const Verdicts& verdicts, std::size_t allocator) {
  std::vector<HeadlineCell> cells;
  for (const std::uint64_t size : kHeadlineSizes) {
    const PointTax* point = headline_point(verdicts, allocator, size);
    cells.push_back({size, time_cell(point), redundant_cell(point)});
  }
  return cells;
}

AllocatorEntry entry_of(const Summary& summary, std::size_t n) {
  const AllocatorTax& tax = summary.verdicts.allocators[n];
  const char* worker = tax.worker_points == 0 ? "not measured" : tax.worker_differs.empty() ? "same" : "differs";
  AllocatorEntry entry{.id = n,
                       .allocator = tax.allocator,
                       .version = known_if(!tax.version.empty(), tax.version, "its version is unknown"),
                       .env = tax.env,
                       .preload = tax.preload,
                       .label = tax.label,
                       .name = tax.name + tax.build,
                       .sizes = {tax.redundant.known, tax.redundant.unknown, tax.failed},
                       .redundant = entry_of(tax.redundant),
                       .redundant_first = entry_of(tax.redundant_first),
                       .in_free = {entry_of(tax.cleared_in_free), entry_of(tax.needless_in_free)},
                       .returns = entry_of(tax.returns),
                       .slow = entry_of(tax.slow),
                       .worst = worst_of(summary.verdicts, tax),
                       .worker = {worker, tax.worker_points, tax.worker_differs},
                       .headline = headline_of(summary.verdicts, n)};
  if (const auto& remedies = summary.avoid[n]) {
    entry.avoid.emplace(Avoid{*remedies, remedies_line(tax.allocator, *remedies)});
  }
  return entry;
}

/// Returns the bytes as a share of the block, at most 1. An allocator that rounds sizes up also zeroes bytes beyond the
/// block.
Measured<double> share_of_block(const std::optional<std::uint64_t>& bytes, const PointTax& point) {
  if (!bytes) return NotAvailable{"not audited"};
  return std::min(1.0, static_cast<double>(*bytes) / static_cast<double>(point.size_bytes));
}

PointRow row_of(const PointTax& point) {
  PointRow row{.allocator = point.allocator,
               .case_name = point.case_name,
               .size_bytes = point.size_bytes,
               .touch = point.touch,
               .thread = point.thread,
               .status = point.status,
               .redundant = redundant_word(point),
               .redundant_share = share_of_block(point.redundant_bytes, point),
               .redundant_first = point.first_redundant,
               .slow = point.slow,
               .ratio_to_fastest = {point.ratio, "nothing to compare with"},
               .operation_ns = {point.operation_ns, "not timed"},
               .operation_faults = {point.operation_faults, "not counted"},
               .zeroed_share = share_of_block(point.zeroed_bytes, point)};
  for (const RedundantCalls& calls : point.calls.value_or(std::vector<RedundantCalls>())) {
    row.calls.push_back({calls.kind,
                         calls.ops,
                         calls.of_ops,
                         calls.redundant_bytes,
                         {calls.calloc_ns, "the timing pass saw no such call"}});
  }
  return row;
}

Json touches_json(const Verdicts& verdicts) {
  std::set<double> touches;
  for (const PointTax& point : verdicts.points) touches.insert(point.touch);
  Json json = Json::object();
  for (const double touch : touches) {
    json[fmt::format("{:g}", touch)] = touch == 0   ? "nothing"
                                       : touch == 1 ? "every page"
                                                    : fmt::format("{:g} % of the pages", touch * 100);
  }
  return json;
}

void add_points(const Verdicts& verdicts, SummaryDocument& document) {
  const std::vector<std::string> names = keys_of<PointRow>();
  document.points.key = {names.begin(), names.begin() + PointRow::kKeys};
  document.points.columns = {names.begin() + PointRow::kKeys, names.end()};
  for (const PointTax& point : verdicts.points) {
    if (!point.modes.empty()) document.unlike_calls.push_back({document.points.rows.size(), point.modes});
    document.points.rows.push_back(row_of(point));
    if (point.is_ok()) continue;
    document.failures.push_back({point.allocator, point.case_name, point.size_bytes, point.touch, point.thread,
                                 point.status, point.reason.empty() ? "no reason given" : point.reason});
  }
}

}  // namespace

SummaryRun read_summary_run(const Json& run) {
  SummaryRun read;
  if (!run.is_object()) return read;
  const std::string state = text_field(run, "state", "");
  const std::string started = text_field(run, "started", "");
  if (!state.empty()) read.state = state;
  if (!started.empty()) read.started = started;
  read_field(run, "load", read.load);
  read_field(run, "comparable_times", read.comparable_times);
  if (state.empty() || state == "complete") return read;
  const Json plan = run.value("plan", Json());
  const auto points = [&](const char* key) {
    const bool known = plan.is_object() && plan.contains(key) && plan.at(key).is_number_integer();
    return known ? format_count(plan.at(key).get<std::uint64_t>()) : "?";
  };
  const std::string finished = points("points_finished");
  read.unfinished =
      fmt::format("The run is {}: {} of {} points {} measured.", state == "running" ? "still going" : state, finished,
                  points("points_planned"), finished == "1" ? "is" : "are");
  return read;
}

SummaryDocument summary_document(const Summary& summary) {
  const Verdicts& verdicts = summary.verdicts;
  const std::uint64_t page = verdicts.points.empty() ? page_bytes() : verdicts.points.front().page_bytes;
  SummaryDocument document{
      .schema = "zerotax.summary/1",
      .run = summary.run,
      .limits = {0.5, 0.05, kSlowRatio, kSlowNs, kLevelRatio, page},
      .words = {"At least half of the block was zero already when it was zeroed.",
                fmt::format("A call takes {} or more, and {:g} times the time of the fastest at that size, or more.",
                            format_ns(kSlowNs), kSlowRatio)},
      .ranking = summary.ranking,
      .sentences = summary.sentences,
      .touches = touches_json(verdicts)};
  for (std::size_t n = 0; n < verdicts.allocators.size(); ++n) document.allocators.push_back(entry_of(summary, n));
  add_points(verdicts, document);
  return document;
}

Json summary_json(const Summary& summary) { return summary_document(summary); }

}  // namespace zerotax::findings
