#include "findings/projects.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

namespace zerotax::findings {
namespace {

std::vector<long> parts_of(const std::string& version) {
  std::vector<long> parts;
  std::istringstream text(version);
  for (std::string part; std::getline(text, part, '.');) parts.push_back(std::strtol(part.c_str(), nullptr, 10));
  return parts;
}

bool is_about(const Json& entry, const Finding& finding) {
  const auto& names = entry.at("findings");
  if (std::find(names.begin(), names.end(), finding.name) == names.end()) return false;
  return finding.named_bytes >= entry.value("from_bytes", std::uint64_t{0}) &&
         finding.named_bytes < entry.value("below_bytes", UINT64_MAX);
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

std::vector<Json> upstream_entries(const std::string& allocator, const char* list, const Finding& finding) {
  std::vector<Json> entries;
  const Json* upstream = upstream_of(allocator);
  if (upstream == nullptr) return entries;
  for (const Json& entry : upstream->at(list)) {
    if (is_about(entry, finding)) entries.push_back(entry);
  }
  return entries;
}

bool is_older(const std::string& one, const std::string& other) { return parts_of(one) < parts_of(other); }

std::optional<std::string> fixed_later(const Json& duplicate, const std::string& version) {
  const auto found = duplicate.find("fixed_in");
  if (found == duplicate.end() || version.empty()) return std::nullopt;
  std::optional<std::string> oldest;
  for (const Json& entry : *found) {
    const auto fixed = entry.get<std::string>();
    if (parts_of(fixed).front() == parts_of(version).front()) {
      return is_older(version, fixed) ? std::optional(fixed) : std::nullopt;
    }
    if (is_older(version, fixed) && (!oldest || is_older(fixed, *oldest))) oldest = fixed;
  }
  return oldest;
}

}  // namespace zerotax::findings
