#include "judge/projects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <utility>

#include "base/shell.h"
#include "judge/document.h"

namespace zerotax {
namespace {

std::vector<long> parts_of(const std::string& version) {
  std::vector<long> parts;
  std::istringstream text(version);
  for (std::string part; std::getline(text, part, '.');) parts.push_back(std::strtol(part.c_str(), nullptr, 10));
  return parts;
}

KnownRemedy version_remedy(const std::string& allocator, const std::string& version, const ProjectIssue& issue) {
  KnownRemedy remedy{"version", version, issue.id, issue.url, {}, {}, {}, {}, {}};
  remedy.text = fmt::format("Use {} {} or later ({}).", allocator, version, issue.id);
  return remedy;
}

KnownRemedy setting_remedy(const ProjectKnob& knob) {
  const bool confirmed = knob.mark != "unconfirmed";
  const std::string line = shell_text(setting_words(knob.env));
  return {"setting", {},
          {},        {},
          knob.env,  line,
          confirmed, fmt::format("Set `{}`: {}{}.", line, knob.words, confirmed ? "" : " (said to, not confirmed)"),
          {}};
}

/// Whether a configuration already has a setting.
bool has_all(const std::map<std::string, std::string>& env, const Settings& setting) {
  return std::all_of(setting.begin(), setting.end(), [&](const auto& one) {
    const auto found = env.find(one.first);
    return found != env.end() && found->second == one.second;
  });
}

/// Returns each known remedy, and whether it covers every size of the finding.
std::vector<std::pair<KnownRemedy, bool>> known_remedies(const AllocatorFindings& subject, const Finding& finding) {
  std::vector<std::pair<KnownRemedy, bool>> found;
  const std::string version = subject.version.value_or("");
  for (const ProjectIssue& issue : entries_about(subject.allocator, &Project::duplicates, finding)) {
    if (const auto fixed = fixed_later(issue, version)) {
      found.emplace_back(version_remedy(subject.allocator, *fixed, issue), issue.covers(finding));
    }
  }
  for (const ProjectKnob& knob : entries_about(subject.allocator, &Project::knobs, finding)) {
    if (lacks(version, knob.since)) continue;
    if (has_all(subject.env, knob.env)) continue;
    found.emplace_back(setting_remedy(knob), knob.covers(finding));
  }
  return found;
}

}  // namespace

const std::map<std::string, std::string>& embedded_upstreams() {
  static const std::map<std::string, std::string> all{
#include "embedded_upstreams.inc"
  };
  return all;
}

const Json* upstream_of(const std::string& allocator) {
  static const std::map<std::string, Json> all = [] {
    std::map<std::string, Json> parsed;
    for (const auto& [name, text] : embedded_upstreams()) parsed[name] = Json::parse(text);
    return parsed;
  }();
  const auto found = all.find(allocator);
  return found == all.end() ? nullptr : &found->second;
}

const Project* project_of(const std::string& allocator) {
  static std::map<std::string, Project> all;
  const Json* upstream = upstream_of(allocator);
  if (upstream == nullptr) return nullptr;
  if (!all.contains(allocator)) all[allocator] = read_project(*upstream);
  return &all[allocator];
}

bool ProjectEntry::is_about(const Finding& finding) const {
  return std::find(findings.begin(), findings.end(), finding.name) != findings.end() &&
         finding.named_bytes >= from_bytes.value_or(0) && finding.named_bytes < below_bytes.value_or(UINT64_MAX);
}

bool ProjectEntry::covers(const Finding& finding) const {
  return finding.from_bytes >= from_bytes.value_or(0) && finding.to_bytes < below_bytes.value_or(UINT64_MAX);
}

bool is_older(const std::string& one, const std::string& other) { return parts_of(one) < parts_of(other); }

bool lacks(const std::string& version, const std::optional<std::string>& since) {
  return since && version.find('.') != std::string::npos && is_older(version, *since);
}

std::optional<std::string> fixed_later(const ProjectIssue& duplicate, const std::string& version) {
  if (!duplicate.fixed_in || version.empty()) return std::nullopt;
  std::optional<std::string> oldest;
  for (const std::string& fixed : *duplicate.fixed_in) {
    if (parts_of(fixed).front() == parts_of(version).front()) {
      return is_older(version, fixed) ? std::optional(fixed) : std::nullopt;
    }
    if (is_older(version, fixed) && (!oldest || is_older(fixed, *oldest))) oldest = fixed;
  }
  return oldest;
}

KnownRemedies remedies_of(const AllocatorFindings& subject, const Finding& finding) {
  KnownRemedies remedies;
  for (auto& known : known_remedies(subject, finding)) remedies.push_back(std::move(known.first));
  return remedies;
}

KnownRemedies united_remedies(const AllocatorFindings& subject, const std::vector<Finding>& findings) {
  std::vector<std::pair<KnownRemedy, std::size_t>> all;  // second: the number of findings that the remedy avoids
                                                         // completely
  for (const Finding& finding : findings) {
    for (const auto& known : known_remedies(subject, finding)) {
      const auto& remedy = known.first;
      const bool whole = known.second;
      auto its = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first == remedy; });
      if (its == all.end()) its = all.insert(all.end(), {remedy, 0});
      if (whole) ++its->second;
    }
  }
  std::stable_partition(all.begin(), all.end(), [](const auto& each) { return each.first.kind == "version"; });
  KnownRemedies remedies;
  for (const auto& [remedy, gone] : all) {
    remedies.push_back(remedy);
    remedies.back().in_part = gone < findings.size();
  }
  return remedies;
}

std::string remedies_sentence(const KnownRemedies& remedies) {
  std::string text;
  for (const KnownRemedy& remedy : remedies) text += (text.empty() ? "" : " ") + remedy.text;
  return text.empty() ? "No setting or version is known that avoids it." : text;
}

std::string remedies_line(const std::string& allocator, const KnownRemedies& remedies) {
  std::string text;
  for (const KnownRemedy& remedy : remedies) {
    text += text.empty() ? "" : ", or ";
    const char* in_part = remedy.in_part.value_or(false) ? " (in part)" : "";
    text += remedy.version ? fmt::format("{} {} or later{}", allocator, *remedy.version, in_part)
                           : fmt::format("`{}`{}", *remedy.line, *remedy.confirmed ? in_part : " (not confirmed)");
  }
  return text.empty() ? "nothing that is known" : text;
}

}  // namespace zerotax
