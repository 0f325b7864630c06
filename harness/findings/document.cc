#include "findings/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/units.h"
#include "base/wrap.h"
#include "core/metric_json.h"
#include "findings/figures_text.h"
#include "findings/projects.h"
#include "findings/remedies.h"
#include "findings/rule.h"
#include "findings/tax.h"

namespace zerotax::findings {
namespace {

bool same_subject(const Point& one, const Point& other) {
  return one.allocator == other.allocator && one.version == other.version && one.env == other.env;
}

/// `one`: any point of the allocator.
FindingSubject subject_of(const Point& one, const std::vector<Point>& points, const Json& thresholds,
                          const BesidePoints& beside) {
  FindingSubject subject{one.allocator, {}, {}, {}, {}, {}};
  for (const Point& edge : beside.edges) {
    if (same_subject(one, edge)) subject.edges.push_back(&edge);
  }
  for (const Point& control : beside.controls) {
    if (same_subject(one, control)) subject.controls.push_back(&control);
  }
  for (const Point& point : points) (same_subject(one, point) ? subject.points : subject.peers).push_back(&point);
  if (thresholds.is_object()) {
    for (const Json& threshold : thresholds.at("thresholds")) {
      if (threshold.at("allocator") == one.allocator) subject.thresholds.push_back(&threshold);
    }
  }
  return subject;
}

/// Two findings of a rule may fall on one name, as where an allocator is good in between; no two ids may be the same.
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

/// A line for each remedy, or that none is known.
std::string remedies_text(const Json& remedies) {
  if (remedies.empty()) return wrap("remedy: none is known", "    ", "      ");
  std::string text;
  for (const Json& remedy : remedies) text += wrap("remedy: " + remedy.at("text").get<std::string>(), "    ", "      ");
  return text;
}

/// What the rule of this name looks for, in a line.
std::string meaning_of_rule(const std::string& name) {
  for (const FindingRule* rule : FindingRule::all()) {
    if (name == rule->name()) return rule->meaning();
  }
  return name;
}

Json shown_in_json(const ShownIn& shown) {
  Json columns = Json::object();
  if (*shown.column != '\0') columns[std::string(shown.figure) + ".f"] = shown.column;
  return {{"figure", shown.figure}, {"columns", columns}};
}

}  // namespace

Json knob_json(const Json& env, const Json& effect) {
  const std::string text = is_not_available(effect) ? text_field(effect, "na", "") : figures_text(effect);
  return {{"env", env}, {"effect", effect}, {"text", text}};
}

std::vector<FindingSubject> subjects_of(const std::vector<Point>& points, const Json& thresholds,
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

std::vector<AllocatorFindings> find_findings(const std::vector<Point>& points, const Json& thresholds,
                                             const BesidePoints& beside, const std::vector<std::string>& rules) {
  std::vector<AllocatorFindings> all;
  for (const FindingSubject& subject : subjects_of(points, thresholds, beside)) {
    const Point& first = *subject.points.front();
    AllocatorFindings& one =
        all.emplace_back(AllocatorFindings{first.allocator, to_json(first.version), first.env, {}});
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

Json finding_json(const AllocatorFindings& subject, const Finding& finding) {
  Json json;
  json["id"] = finding_id(subject.allocator, finding);
  json["rule"] = finding.rule;
  json["meaning"] = meaning_of_rule(finding.rule);
  json["allocator"] = subject.allocator;
  json["version"] = subject.version;
  json["env"] = subject.env;
  json["severity"] = severity_word(finding.severity);
  json["title"] = finding.title;
  json["sentence"] = finding.sentence;
  json["sizes"] = range_text(finding.from_bytes, finding.to_bytes);
  json["shown_in"] = shown_in_json(finding.shown_in.value_or(ShownIn{"time"}));
  json["evidence"] = finding.evidence;
  for (Json& entry : json["evidence"]) entry["text"] = figures_text(entry.at("figures"));
  json["knobs"] = Json::array();
  for (const Json& knob : upstream_entries(subject.allocator, "knobs", finding)) {
    json["knobs"].push_back(knob_json(knob.at("env"), not_available("not tried yet: zerotax report tries it")));
  }
  json["remedies"] = remedies_of(subject, finding);
  json["remedy"] = remedies_sentence(json["remedies"]);
  return json;
}

Json findings_json(const std::vector<AllocatorFindings>& all, const std::string& run) {
  Json json;
  json["schema"] = "zerotax.findings/1";
  json["run"] = run;
  json["findings"] = Json::array();
  for (const AllocatorFindings& one : all) {
    for (const Finding& finding : one.findings) json["findings"].push_back(finding_json(one, finding));
  }
  json["sentence"] = findings_sentence(json["findings"]);
  return json;
}

std::string findings_sentence(const Json& findings) {
  if (findings.empty()) return "No rule found anything to report.";
  std::vector<std::string> counts;
  const Json* worst = nullptr;
  for (const char* severity : {"high", "medium", "low"}) {
    std::uint64_t count = 0;
    for (const Json& finding : findings) {
      if (finding.at("severity") != severity) continue;
      ++count;
      if (worst == nullptr) worst = &finding;
    }
    if (count > 0) counts.push_back(fmt::format("{} of {} severity", count, severity));
  }
  std::string text;
  for (std::size_t n = 0; n < counts.size(); ++n) {
    text += (n == 0 ? "" : n + 1 == counts.size() ? " and " : ", ") + counts[n];
  }
  return fmt::format("{}. {}: {}: {}.", text, findings.size() == 1 ? "It is" : "The first",
                     worst->at("allocator").get<std::string>(), worst->at("title").get<std::string>());
}

std::string findings_count(const Json& findings) {
  const Json& all = findings.at("findings");
  if (all.empty()) return "no findings";
  std::string kinds;
  for (const char* severity : {"high", "medium", "low"}) {
    const auto count =
        std::count_if(all.begin(), all.end(), [&](const Json& each) { return each.at("severity") == severity; });
    if (count > 0) kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count, severity);
  }
  return fmt::format("{}: {}", format_counted(all.size(), "finding"), kinds);
}

std::string findings_text(const Json& findings, const Palette& palette) {
  std::string text = findings_count(findings) + "\n";
  std::string last;
  for (const Json& finding : findings.at("findings")) {
    std::string label = finding.at("allocator");
    if (finding.at("version").is_string()) label += " " + finding.at("version").get<std::string>();
    if (!finding.at("env").empty()) label += " with " + env_words(finding.at("env"));
    if (label != last) text += "\n" + wrap(label, "", "  ");
    last = label;
    const auto severity = finding.at("severity").get<std::string>();
    const std::string cell = fmt::format("{:<7}", severity);
    text += fmt::format("\n  {} {}\n",
                        severity == "low" ? cell : palette(severity == "high" ? Tone::kWorse : Tone::kDoubtful, cell),
                        finding.at("id").get<std::string>());
    text += wrap(finding.at("sentence").get<std::string>(), "    ", "    ");
    const Json& evidence = finding.at("evidence");
    const auto [least, most] = std::minmax_element(evidence.begin(), evidence.end(), [](const Json& a, const Json& b) {
      return a.at("size_bytes") < b.at("size_bytes");
    });
    text += fmt::format("    evidence: {} point{}, {}\n", evidence.size(), evidence.size() == 1 ? "" : "s",
                        range_text(least->at("size_bytes"), most->at("size_bytes")));
    text += remedies_text(finding.at("remedies"));
  }
  if (last.empty()) return text;
  return text + "\nTo try settings on a program of your own: zerotax advise -- COMMAND\n";
}

}  // namespace zerotax::findings
