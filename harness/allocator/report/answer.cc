#include "report/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/lines.h"
#include "base/shell.h"
#include "base/units.h"

namespace zerotax::report {
namespace {

constexpr std::size_t kLongestId = 46;

/// Returns the findings, the most severe first. Among equal severities, written reports come first.
std::vector<ReportedFinding> ranked(std::vector<ReportedFinding> findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const ReportedFinding& a, const ReportedFinding& b) {
    return std::pair(a.severity, !a.folder.empty()) > std::pair(b.severity, !b.folder.empty());
  });
  return findings;
}

std::string headline(const AllocatorFindings& found, const std::vector<ReportedFinding>& findings) {
  const auto written = static_cast<std::size_t>(std::count_if(
      findings.begin(), findings.end(), [](const ReportedFinding& each) { return !each.folder.empty(); }));
  const std::string all = fmt::format("{} of {}", format_counted(findings.size(), "finding"), found.name());
  if (findings.size() == 1) return fmt::format("{} was written for {}.", written == 1 ? "A report" : "No report", all);
  return fmt::format("{} written for {} of {}.", written == 1 ? "A report was" : "Reports were", written, all);
}

/// Returns the commands that check the report of a finding and send it.
std::vector<Answer::Step> steps_of(const ReportedFinding& finding) {
  if (finding.folder.empty()) {
    return finding.show.empty() ? std::vector<Answer::Step>{} : std::vector<Answer::Step>{{finding.show, "see it:"}};
  }
  const std::string path = fmt::format("{}/{}", finding.folder, finding.file);
  return {{fmt::format("cd {} && {}", shell_word(finding.folder), finding.how), "run the reproducer yourself:"},
          {"", finding.tracker.empty() ? fmt::format("then send {}.", path)
                                       : fmt::format("then paste {} into {}.", path, finding.tracker)}};
}

}  // namespace

ReportedFinding written_report(const ReportData& data, const std::string& folder, const std::string& file) {
  const Project* project = project_of(data.subject.allocator);
  const auto fix = known_fix(data);
  return {.id = finding_id(data.subject.allocator, data.finding),
          .title = report_title(data),
          .sentence = data.finding.sentence,
          .severity = data.finding.severity,
          .folder = folder,
          .file = file,
          .how = data.how,
          .control = data.control.allocator,
          .tracker = project == nullptr || fix ? "" : project->tracker,
          .fix = fix ? fmt::format("fixed in {}: upgrade ({})", fix->version, fix->issue.url) : ""};
}

Answer report_answer(const AllocatorFindings& found, const std::vector<ReportedFinding>& findings) {
  const std::vector<ReportedFinding> order = ranked(findings);
  const ReportedFinding& worst = order.front();
  Answer answer{.headline = headline(found, findings) + " Worst: " + worst.title + "."};
  Table table({{"finding", Unit::kText, 40}, {"severity", Unit::kText, 10}, {"report", Unit::kText}});
  for (const ReportedFinding& each : order) {
    const char* const none = each.show.empty() ? "not reproduced" : "no reproducer";
    table.add({first_characters(each.id, kLongestId), severity_word(each.severity),
               each.folder.empty() ? std::string(none) : each.file});
    if (!each.fix.empty()) answer.warnings.push_back(fmt::format("{} is {}.", each.id, each.fix));
    if (!each.why_not.empty()) answer.warnings.push_back(fmt::format("{}: {}", each.id, each.why_not));
  }
  answer.table = std::move(table);
  answer.where = worst.sentence;
  std::erase(answer.where, '`');
  answer.steps = steps_of(worst);
  if (!worst.control.empty()) {
    answer.legend =
        fmt::format("The reproducer shows the finding under {}, and not under {}.", found.allocator, worst.control);
  }
  answer.more = "Path, title and fix of each report";
  return answer;
}

Answer nothing_to_report(const AllocatorFindings& found, const std::string& id, const std::string& severity,
                         const std::string& word) {
  if (!id.empty()) return {.headline = fmt::format("nothing to report: {} does not show {}.", found.name(), id)};
  Answer answer{.headline = fmt::format("nothing to report: {} has no finding of severity {} or higher.", found.name(),
                                        severity)};
  Table table({{"finding", Unit::kText, 40}, {"severity", Unit::kText}});
  for (const Finding& finding : found.findings) {
    table.add({first_characters(finding_id(found.allocator, finding), kLongestId), severity_word(finding.severity)});
  }
  if (table.empty()) return answer;
  answer.table = std::move(table);
  answer.steps = {{shell_text({"zerotax", "report", "--allocator", word, "--finding",
                               finding_id(found.allocator, found.findings.front())}),
                   "report a finding nevertheless:"}};
  return answer;
}

std::string report_text(const AllocatorFindings& found, const std::vector<ReportedFinding>& findings) {
  std::string text = wrap(headline(found, findings));
  for (const ReportedFinding& each : findings) {
    if (!each.folder.empty()) {
      text += fmt::format("\n{}/{}\n  {}\n", each.folder, each.file, each.title);
      if (!each.fix.empty()) text += fmt::format("  {}\n", each.fix);
    } else {
      text += fmt::format("\n{}\n", each.id) + wrap(each.sentence, "  ", "  ") + wrap(each.why_not, "  ", "  ");
      if (!each.show.empty()) text += fmt::format("  To see the finding: {}\n", each.show);
    }
  }
  return text;
}

}  // namespace zerotax::report
