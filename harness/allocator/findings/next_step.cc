#include "findings/next_step.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/shell.h"
#include "judge/projects.h"

namespace zerotax::findings {
namespace {

/// Nobody wants a report of an allocator that zeroes on purpose.
bool is_reported(const AllocatorFindings& one) {
  const Project* project = project_of(one.allocator);
  return project == nullptr || !project->deliberate;
}

}  // namespace

std::string next_step(const std::vector<AllocatorFindings>& all, const std::vector<Point>& points) {
  const AllocatorFindings* whose = nullptr;
  const Finding* worst = nullptr;
  for (const AllocatorFindings& one : all) {
    // The first of each allocator is its most severe.
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
