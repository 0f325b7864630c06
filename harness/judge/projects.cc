#include "judge/projects.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "judge/document.h"

namespace zerotax {
namespace {

std::vector<long> parts_of(const std::string& version) {
  std::vector<long> parts;
  std::istringstream text(version);
  for (std::string part; std::getline(text, part, '.');) parts.push_back(std::strtol(part.c_str(), nullptr, 10));
  return parts;
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

}  // namespace zerotax
