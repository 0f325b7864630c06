#include "findings/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/lines.h"
#include "base/printable.h"
#include "base/shell.h"
#include "base/units.h"
#include "judge/document.h"
#include "judge/projects.h"
#include "judge/rule.h"

namespace zerotax::findings {
namespace {

/// Returns a count such as "1 high" for each severity that has findings.
std::vector<std::string> severity_counts(const std::vector<AllocatorFindings>& all, const char* phrase) {
  std::vector<std::string> counts;
  for (const Severity severity : kSeverities) {
    std::uint64_t count = 0;
    for (const AllocatorFindings& one : all) count += one.count(severity);
    if (count > 0) counts.push_back(fmt::format(fmt::runtime(phrase), count, severity_word(severity)));
  }
  return counts;
}

std::string finding_text(const AllocatorFindings& one, const Finding& finding, const Palette& palette) {
  const std::string cell = fmt::format("{:<7}", severity_word(finding.severity));
  const Tone tone = finding.severity == Severity::kHigh ? Tone::kWorse : Tone::kDoubtful;
  std::string text = fmt::format("\n  {} {}\n", finding.severity == Severity::kLow ? cell : palette(tone, cell),
                                 printable(finding_id(one.allocator, finding))) +
                     wrap(finding.sentence, "    ", "    ");
  const auto [least, most] =
      std::minmax_element(finding.evidence.begin(), finding.evidence.end(),
                          [](const EvidencePoint& a, const EvidencePoint& b) { return a.size_bytes < b.size_bytes; });
  text += fmt::format("    evidence: {}, {}\n", format_counted(finding.evidence.size(), "point"),
                      range_text(least->size_bytes, most->size_bytes));
  const KnownRemedies remedies = remedies_of(one, finding);
  if (remedies.empty()) text += wrap("remedy: none is known", "    ", "      ");
  for (const KnownRemedy& remedy : remedies) text += wrap("remedy: " + remedy.text, "    ", "      ");
  return text;
}

}  // namespace

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t n = 0; n < names.size(); ++n) {
    if (n > 0) text += n + 1 == names.size() ? " and " : ", ";
    text += names[n];
  }
  return text;
}

std::size_t number_of(const std::vector<AllocatorFindings>& all) {
  return std::accumulate(all.begin(), all.end(), std::size_t{0},
                         [](std::size_t sum, const AllocatorFindings& one) { return sum + one.findings.size(); });
}

std::string findings_sentence(const std::vector<AllocatorFindings>& all) {
  const AllocatorFindings* worst = nullptr;
  for (const AllocatorFindings& one : all) {
    if (one.findings.empty()) continue;
    if (worst == nullptr || one.findings.front().severity > worst->findings.front().severity) worst = &one;
  }
  if (worst == nullptr) return "No rule found anything to report.";
  return fmt::format("{}. {}: {}: {}.", listed(severity_counts(all, "{} of {} severity")),
                     number_of(all) == 1 ? "It is" : "The first", worst->allocator, worst->findings.front().title);
}

std::string findings_count(const std::vector<AllocatorFindings>& all) {
  const std::size_t number = number_of(all);
  if (number == 0) return "no findings";
  return fmt::format("{}: {}", format_counted(number, "finding"), fmt::join(severity_counts(all, "{} {}"), ", "));
}

std::string findings_text(const std::vector<AllocatorFindings>& all, const Palette& palette) {
  std::string text = findings_count(all) + "\n";
  for (const AllocatorFindings& one : all) {
    if (!one.findings.empty()) text += "\n" + wrap(one.name() + one.settings(" with "), "", "  ");
    for (const Finding& finding : one.findings) text += finding_text(one, finding, palette);
  }
  if (number_of(all) == 0) return text;
  return text + "\nTo try settings on your own program: zerotax advise -- COMMAND\n";
}

Json findings_json(const std::vector<AllocatorFindings>& all, const std::string& run) {
  FindingsDocument document{"zerotax.findings/1", run, {}, findings_sentence(all)};
  for (const AllocatorFindings& one : all) {
    for (const Finding& finding : one.findings) document.findings.push_back(finding_entry(one, finding));
  }
  return document;
}

namespace {

/// Returns whether the allocator's project takes reports. An allocator that zeroes on purpose needs no report.
bool is_reported(const AllocatorFindings& one) {
  const Project* project = project_of(one.allocator);
  return project == nullptr || !project->deliberate;
}

}  // namespace

std::string next_step(const std::vector<AllocatorFindings>& all, const std::vector<Point>& points) {
  const AllocatorFindings* whose = nullptr;
  const Finding* worst = nullptr;
  for (const AllocatorFindings& one : all) {
    // The first finding of each allocator is the allocator's most severe one.
    if (one.findings.empty() || !is_reported(one)) continue;
    if (worst != nullptr && one.findings.front().severity <= worst->severity) continue;
    whose = &one;
    worst = &one.findings.front();
  }
  if (worst == nullptr) return "";
  std::string word = whose->allocator;
  const auto measured = std::find_if(points.begin(), points.end(),
                                     [&](const Point& point) { return point.allocator == whose->allocator; });
  if (measured != points.end() && measured->preload) word += "=" + *measured->preload;
  std::vector<std::string> words{"zerotax", "report", "--allocator", word};
  for (const std::string& setting : setting_words(whose->env)) {
    words.insert(words.end(), {"--env", whose->allocator + ":" + setting});
  }
  words.insert(words.end(), {"--finding", finding_id(whose->allocator, *worst)});
  if (worst->severity == Severity::kLow) words.insert(words.end(), {"--severity", "low"});
  return shell_text(words);
}

}  // namespace zerotax::findings
