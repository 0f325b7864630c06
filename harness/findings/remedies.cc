#include "findings/remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/shell.h"
#include "findings/projects.h"

namespace zerotax::findings {
namespace {

std::string setting_line(const Json& env) {
  std::vector<std::string> words;
  for (const auto& [name, value] : env.items()) words.push_back(name + "=" + value.get<std::string>());
  return shell_text(words);
}

Json version_remedy(const std::string& allocator, const std::string& version, const Json& duplicate) {
  const auto id = duplicate.at("id").get<std::string>();
  return Json{{"kind", "version"},
              {"version", version},
              {"id", id},
              {"url", duplicate.at("url")},
              {"text", fmt::format("Use {} {} or later ({}).", allocator, version, id)}};
}

Json setting_remedy(const Json& knob) {
  const bool confirmed = knob.at("mark") != "unconfirmed";
  const std::string line = setting_line(knob.at("env"));
  return Json{{"kind", "setting"},
              {"env", knob.at("env")},
              {"line", line},
              {"confirmed", confirmed},
              {"text", fmt::format("Set `{}`: {}{}.", line, knob.at("words").get<std::string>(),
                                   confirmed ? "" : " (said to, not confirmed)")}};
}

/// Whether an entry that is about a finding is about all of its sizes.
bool covers(const Json& entry, const Finding& finding) {
  return finding.from_bytes >= entry.value("from_bytes", std::uint64_t{0}) &&
         finding.to_bytes < entry.value("below_bytes", UINT64_MAX);
}

struct Known {
  Json remedy;
  bool whole;  ///< at every size of the finding
};

std::vector<Known> known_remedies(const AllocatorFindings& subject, const Finding& finding) {
  std::vector<Known> found;
  const std::string version = subject.version.is_string() ? subject.version.get<std::string>() : std::string();
  for (const Json& duplicate : upstream_entries(subject.allocator, "duplicates", finding)) {
    if (const auto fixed = fixed_later(duplicate, version)) {
      found.push_back({version_remedy(subject.allocator, *fixed, duplicate), covers(duplicate, finding)});
    }
  }
  for (const Json& knob : upstream_entries(subject.allocator, "knobs", finding)) {
    if (knob.contains("since") && !version.empty() && is_older(version, knob.at("since").get<std::string>())) continue;
    found.push_back({setting_remedy(knob), covers(knob, finding)});
  }
  return found;
}

}  // namespace

Json remedies_of(const AllocatorFindings& subject, const Finding& finding) {
  Json remedies = Json::array();
  for (Known& known : known_remedies(subject, finding)) remedies.push_back(std::move(known.remedy));
  return remedies;
}

Json united_remedies(const AllocatorFindings& subject, const std::vector<Finding>& findings) {
  std::vector<std::pair<Json, std::size_t>> all;  // with the number of findings that are gone by it
  for (const Finding& finding : findings) {
    for (const Known& known : known_remedies(subject, finding)) {
      auto its = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first == known.remedy; });
      if (its == all.end()) its = all.insert(all.end(), {known.remedy, 0});
      if (known.whole) ++its->second;
    }
  }
  std::stable_partition(all.begin(), all.end(), [](const auto& each) { return each.first.at("kind") == "version"; });
  Json remedies = Json::array();
  for (auto& [remedy, gone] : all) {
    remedy["in_part"] = gone < findings.size();
    remedies.push_back(std::move(remedy));
  }
  return remedies;
}

std::string remedies_sentence(const Json& remedies) {
  std::string text;
  for (const Json& remedy : remedies) text += (text.empty() ? "" : " ") + remedy.at("text").get<std::string>();
  return text.empty() ? "No setting or version is known that avoids it." : text;
}

std::string remedies_line(const std::string& allocator, const Json& remedies) {
  std::string text;
  for (const Json& remedy : remedies) {
    text += text.empty() ? "" : ", or ";
    const char* in_part = remedy.value("in_part", false) ? " (in part)" : "";
    if (remedy.at("kind") == "version") {
      text += fmt::format("{} {} or later{}", allocator, remedy.at("version").get<std::string>(), in_part);
    } else {
      text += fmt::format("`{}`{}", remedy.at("line").get<std::string>(),
                          remedy.at("confirmed").get<bool>() ? in_part : " (not confirmed)");
    }
  }
  return text.empty() ? "nothing that is known" : text;
}

}  // namespace zerotax::findings
