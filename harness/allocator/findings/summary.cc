#include "findings/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/units.h"
#include "files/output_file.h"
#include "judge/rule.h"
#include "os/page.h"
#include "run/fleet/hosts.h"

namespace zerotax::findings {
namespace {

/// The rules whose findings are needless zeroing by calloc itself.
const std::vector<std::string> kNeedlessRules{"redundant-fresh", "redundant-reuse"};

/// The rule whose findings say what huge pages make a process hold beyond what it holds without them.
constexpr const char* kHugePagesRule = "huge-page-zeroing";

bool is_of(const AllocatorFindings& findings, const AllocatorTax& tax) {
  return findings.allocator == tax.allocator && findings.version.value_or("") == tax.version && findings.env == tax.env;
}

/// What the counts leave out, for they are of small pages; nothing where no point was measured with huge pages.
std::optional<std::string> huge_pages_text(const std::vector<Point>& points, const Verdicts& verdicts) {
  const bool measured = std::any_of(points.begin(), points.end(),
                                    [](const Point& point) { return point.count(Metric::kHeldBytes).has_value(); });
  if (!measured) return std::nullopt;
  std::string told;
  for (const AllocatorFindings& one : find_findings(points, {}, {}, {kHugePagesRule})) {
    if (one.findings.empty()) continue;
    const auto tax = std::find_if(verdicts.allocators.begin(), verdicts.allocators.end(),
                                  [&](const AllocatorTax& each) { return is_of(one, each); });
    told += fmt::format(" Under {}, {}.", tax == verdicts.allocators.end() ? one.allocator : tax->label,
                        one.findings.front().title);
  }
  return fmt::format("Counts are of pages of {}.{}", format_size(points.front().page_bytes()),
                     told.empty() ? " With huge pages no process holds much more." : told);
}

/// As an allocator's project's data says of the findings.
OrNull<KnownRemedies> avoid_of(const AllocatorTax& tax, const std::vector<AllocatorFindings>& all) {
  if (tax.redundant.spans.empty()) return std::nullopt;
  OrNull<KnownRemedies> remedies{std::in_place};
  for (const AllocatorFindings& one : all) {
    if (!is_of(one, tax)) continue;
    std::vector<Finding> needless = one.findings;
    // Of the first calls of a process the rule says so in the name.
    std::erase_if(needless, [](const auto& finding) { return finding.name.starts_with(finding.rule + "-first"); });
    *remedies = united_remedies(one, needless);
  }
  return remedies;
}

std::vector<std::size_t> ranking_of(const Verdicts& verdicts) {
  std::vector<std::size_t> ids(verdicts.allocators.size());
  std::iota(ids.begin(), ids.end(), std::size_t{0});
  const auto weight = [&](std::size_t n) {
    const AllocatorTax& tax = verdicts.allocators[n];
    const double ratio = tax.worst ? verdicts.points[*tax.worst].ratio.value_or(0) : 0;
    return std::pair(!tax.redundant.spans.empty(), ratio);
  };
  std::stable_sort(ids.begin(), ids.end(), [&](std::size_t a, std::size_t b) { return weight(a) > weight(b); });
  return ids;
}

}  // namespace

Summary summary_of(const std::vector<Point>& all, SummaryRun run) {
  std::vector<Point> points = all;
  const std::string left_out =
      fleet::left_out_text(run.comparable_times, fleet::leave_out_times(run.comparable_times, points));
  if (!left_out.empty()) run.times_left_out = left_out;
  run.points = points.size();
  run.points_without_result = static_cast<std::uint64_t>(
      std::count_if(points.begin(), points.end(), [](const Point& point) { return !point.is_ok(); }));
  Summary summary{std::move(run), find_verdicts(points), {}, {}, {}};
  const auto needless = find_findings(points, {}, {}, kNeedlessRules);
  for (const AllocatorTax& tax : summary.verdicts.allocators) summary.avoid.push_back(avoid_of(tax, needless));
  summary.ranking = ranking_of(summary.verdicts);
  summary.run.huge_pages = huge_pages_text(points, summary.verdicts);
  summary.sentences = summary_sentences(summary.verdicts, summary.run);
  return summary;
}

Summary write_summary(const ResultsFolder& folder, const std::vector<Point>& points) {
  Summary summary = summary_of(points, read_summary_run(read_json_file(folder.path() + "/run.json")));
  folder.write("summary.json", json_text(summary_json(summary)));
  return summary;
}

}  // namespace zerotax::findings
