#include "judge/rule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "base/nearest.h"
#include "base/size.h"
#include "base/units.h"

namespace zerotax {
namespace {

std::string metric_text(const NamedMetric& metric) {
  if (!metric.value) return "n/a: " + metric.value.why();
  if (const bool* yes = std::get_if<bool>(&*metric.value)) return *yes ? "yes" : "no";
  const auto* whole = std::get_if<std::uint64_t>(&*metric.value);
  const double number = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(*metric.value);
  if (metric.name.ends_with("_ns")) return format_ns(number);
  const bool bytes = metric.name.ends_with("bytes");
  if (number != std::floor(number)) return format_number(number) + (bytes ? " bytes" : "");
  const auto count = static_cast<std::uint64_t>(number);
  return bytes ? format_counted(count, "byte") : format_count(count);
}

}  // namespace

std::string severity_word(Severity severity) { return word(severity); }

Severity parse_severity(std::string_view word) {
  for (const Severity each : kSeverities) {
    if (zerotax::word(each) == word) return each;
  }
  refuse_word(fmt::format("invalid severity '{}'", word), std::string(word), {"low", "medium", "high"});
}

std::string metrics_text(const NamedMetrics& metrics) {
  std::string text;
  for (const NamedMetric& each : metrics) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", each.name, metric_text(each));
  }
  return text;
}

std::string AllocatorFindings::settings(const char* with) const {
  return env.empty() ? "" : fmt::format("{}{}", with, fmt::join(setting_words(env), " "));
}

std::uint64_t AllocatorFindings::count(Severity severity) const {
  return static_cast<std::uint64_t>(
      std::count_if(findings.begin(), findings.end(), [&](const Finding& each) { return each.severity == severity; }));
}

std::string finding_id(const std::string& allocator, const Finding& finding) {
  std::string size = finding.exact ? std::to_string(finding.named_bytes) : format_size(finding.named_bytes);
  size.erase(std::remove(size.begin(), size.end(), ' '), size.end());
  return fmt::format("{}-{}-{}", allocator, finding.name, size);
}

std::uint64_t named_size(std::uint64_t from_bytes, std::uint64_t to_bytes) {
  for (const std::uint64_t size : {100 * kMiB, 20 * kMiB, kMiB, 256 * kKiB, 64 * kKiB}) {
    if (from_bytes <= size && size <= to_bytes) return size;
  }
  return to_bytes;
}

std::string range_text(std::uint64_t from_bytes, std::uint64_t to_bytes) {
  if (from_bytes == to_bytes) return format_size(from_bytes);
  const std::string from = format_size(from_bytes), to = format_size(to_bytes);
  // The rounded sizes on both sides of a threshold can look alike.
  if (from == to) return fmt::format("{} to {} bytes", format_count(from_bytes), format_count(to_bytes));
  return fmt::format("{} to {}", from, to);
}

namespace {

std::vector<const FindingRule*>& registered() {
  static std::vector<const FindingRule*> rules;
  return rules;
}

bool same_subject(const Point& one, const Point& other) {
  return one.allocator == other.allocator && one.version == other.version && one.env == other.env;
}

/// `one` is any point of the allocator.
FindingSubject subject_of(const Point& one, const std::vector<Point>& points, const MeasuredThresholds& thresholds,
                          const BesidePoints& beside) {
  FindingSubject subject{one.allocator, {}, {}, {}, {}, {}};
  for (const Point& edge : beside.edges) {
    if (same_subject(one, edge)) subject.edges.push_back(&edge);
  }
  for (const Point& control : beside.controls) {
    if (same_subject(one, control)) subject.controls.push_back(&control);
  }
  for (const Point& point : points) (same_subject(one, point) ? subject.points : subject.peers).push_back(&point);
  for (const MeasuredThreshold& threshold : thresholds.all) {
    if (threshold.allocator == one.allocator) subject.thresholds.push_back(&threshold);
  }
  return subject;
}

/// Makes ids unique. Two findings of a rule may get the same name, for example if sizes between the two ranges do not
/// show the finding.
void tell_apart(const std::string& allocator, std::vector<Finding>& findings) {
  std::set<std::string> ids;
  for (Finding& finding : findings) {
    for (const std::uint64_t other : {finding.to_bytes, finding.from_bytes}) {
      if (ids.contains(finding_id(allocator, finding))) finding.named_bytes = other;
    }
    const std::string name = finding.name;
    for (int i = 2; ids.contains(finding_id(allocator, finding)); ++i) finding.name = fmt::format("{}-{}", name, i);
    ids.insert(finding_id(allocator, finding));
  }
}

Measured<std::string> version_of(const Point& point) {
  return {point.version.word(), point.version.is_absent() ? "not measured" : point.version.why_not()};
}

}  // namespace

FindingRule::FindingRule(const char* name, const char* meaning, ShownIn shown_in, Find function)
    : name_(name), meaning_(meaning), shown_in_(shown_in), find_(function) {
  auto& rules = registered();
  const auto after =
      std::upper_bound(rules.begin(), rules.end(), std::string_view(name),
                       [](std::string_view one, const FindingRule* other) { return one < other->name(); });
  rules.insert(after, this);
}

const std::vector<const FindingRule*>& FindingRule::all() { return registered(); }

std::string meaning_of(const Finding& finding) {
  for (const FindingRule* rule : FindingRule::all()) {
    if (finding.rule == rule->name()) return rule->meaning();
  }
  return finding.rule;
}

std::vector<FindingSubject> subjects_of(const std::vector<Point>& points, const MeasuredThresholds& thresholds,
                                        const BesidePoints& beside) {
  std::vector<FindingSubject> subjects;
  for (const Point& point : points) {
    const bool known = std::any_of(subjects.begin(), subjects.end(), [&](const FindingSubject& subject) {
      return same_subject(*subject.points.front(), point);
    });
    if (!known) subjects.push_back(subject_of(point, points, thresholds, beside));
  }
  return subjects;
}

std::vector<AllocatorFindings> find_findings(const std::vector<Point>& points, const MeasuredThresholds& thresholds,
                                             const BesidePoints& beside, const std::vector<std::string>& rules) {
  std::vector<AllocatorFindings> all;
  for (const FindingSubject& subject : subjects_of(points, thresholds, beside)) {
    const Point& first = *subject.points.front();
    AllocatorFindings& one = all.emplace_back(AllocatorFindings{first.allocator, version_of(first), first.env, {}});
    for (const FindingRule* rule : FindingRule::all()) {
      if (!rules.empty() && std::find(rules.begin(), rules.end(), rule->name()) == rules.end()) continue;
      std::vector<Finding> found = rule->find(subject);
      for (Finding& finding : found) {
        finding.rule = rule->name();
        if (!finding.shown_in) finding.shown_in = rule->shown_in();
      }
      std::move(found.begin(), found.end(), std::back_inserter(one.findings));
    }
    tell_apart(one.allocator, one.findings);
    std::stable_sort(one.findings.begin(), one.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  }
  return all;
}

}  // namespace zerotax
