#include "findings/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/lines.h"
#include "base/printable.h"
#include "base/table.h"
#include "base/units.h"
#include "files/output_file.h"
#include "findings/summary_words.h"
#include "judge/rule.h"
#include "os/page.h"
#include "run/fleet/hosts.h"

namespace zerotax::findings {
namespace {

/// Rules for needless zeroing by calloc itself.
const std::vector<std::string> kNeedlessRules{"redundant-fresh", "redundant-reuse"};

/// The rule for memory that a process holds only because of huge pages.
constexpr const char* kHugePagesRule = "huge-page-zeroing";

bool is_of(const AllocatorFindings& findings, const AllocatorTax& tax) {
  return findings.allocator == tax.allocator && findings.version.value_or("") == tax.version && findings.env == tax.env;
}

/// Returns a sentence on memory held by huge pages. The other counts do not include this memory, because they are
/// counts of small pages. Returns nothing if no point was measured with huge pages.
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
                     told.empty() ? " With huge pages, no process holds much more memory." : told);
}

/// Returns the ways to avoid an allocator's needless zeroing, from its project's data on the findings.
OrNull<KnownRemedies> avoid_of(const AllocatorTax& tax, const std::vector<AllocatorFindings>& all) {
  if (tax.redundant.spans.empty()) return std::nullopt;
  OrNull<KnownRemedies> remedies{std::in_place};
  for (const AllocatorFindings& one : all) {
    if (!is_of(one, tax)) continue;
    std::vector<Finding> needless = one.findings;
    // Findings about the first calls of a process have names that begin with RULE-first.
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

namespace {

constexpr const char* kHeading = "## Redundant zeroing, by allocator\n\n";
constexpr const char* kIntroduction =
    "A block from calloc must be all zero. Memory fresh from the kernel already is,\n"
    "and so is memory that nothing has written to. An allocator that writes zeros\n"
    "there anyway wastes time, page faults and memory.\n\n";
constexpr const char* kTableIntroduction =
    "A program callocs a block, touches none of it, and frees it, over and over:\n\n";

/// Returns an empty text if no allocator was measured at any of the headline's sizes.
std::string table_of(const Summary& summary) {
  bool any = false;
  Table table({{"one calloc, then a free", Unit::kText, 26},
               right_text("calloc(100 MiB)", 15, 1, ""),
               right_text("calloc(1000 MiB)", 16, 1, ""),
               right_text("redundant", 9, 1, "")});
  for (std::size_t n = 0; n < summary.verdicts.allocators.size(); ++n) {
    const PointTax* small = headline_point(summary.verdicts, n, kHeadlineSizes[0]);
    const PointTax* large = headline_point(summary.verdicts, n, kHeadlineSizes[1]);
    any = any || small != nullptr || large != nullptr;
    table.add({first_characters(printable(summary.verdicts.allocators[n].label), 26), time_cell(small),
               time_cell(large), redundant_cell(small)});
  }
  if (!any) return "";
  return kTableIntroduction + table.markdown(true) +
         "\n(time of one calloc; redundant: share of the 100 MiB that was zeroed needlessly)\n\n";
}

/// Returns the sentence on ways to avoid an allocator's needless zeroing, which follows the sentence on the zeroing
/// itself.
std::string avoided(const Summary& summary, std::size_t allocator) {
  const auto& avoid = summary.avoid[allocator];
  if (!avoid) return "";
  return avoid->empty()
             ? " No way to avoid this zeroing is known."
             : fmt::format(" Avoided by {}.", remedies_line(summary.verdicts.allocators[allocator].allocator, *avoid));
}

}  // namespace

std::string load_sentence(const std::optional<Load>& load) {
  return load && load->busy ? load->sentence + " Times are unreliable; counts are right." : "";
}

std::string load_text(const std::optional<Load>& load) {
  const std::string sentence = load_sentence(load);
  return sentence.empty() ? sentence : wrap(sentence, "\n", "");
}

std::string summary_text(const Summary& summary) {
  std::string headline;
  std::string each;
  for (const SummarySentence& sentence : summary.sentences) {
    if (sentence.part == SummaryPart::kHeadline) headline += wrap("**" + sentence.text + "**", "", "") + "\n";
    if (sentence.part != SummaryPart::kEach) continue;
    each +=
        wrap(fmt::format("**{}**: {}{}", sentence.subject, sentence.text, avoided(summary, sentence.allocator.value())),
             "- ", "  ");
  }
  std::string text = kHeading + headline + kIntroduction + table_of(summary) + each;
  if (summary.run.huge_pages) text += "\n" + wrap(*summary.run.huge_pages, "", "");
  text += load_text(summary.run.load);
  if (summary.run.points_without_result > 0) text += "\nPoints without a result:\n\n";
  for (const PointTax& point : summary.verdicts.points) {
    if (point.is_ok()) continue;
    text += wrap(fmt::format("{} {} touch {:g}: {}: {}", summary.verdicts.allocators[point.allocator].label,
                             format_size(point.size_bytes), point.touch, word_of(point.status),
                             point.reason.empty() ? "no reason given" : point.reason),
                 "- ", "  ");
  }
  return text + (summary.run.times_left_out ? "\n" + wrap(*summary.run.times_left_out, "", "") : "");
}

}  // namespace zerotax::findings
