#include <fmt/format.h>

#include <algorithm>

#include "os/print.h"
#include "report/report.h"
#include "report/reproducer.h"

namespace zerotax::report {

void say_step(const std::string& what) { print_text(stderr, "report: {}\n", what); }

std::string case_of(const Finding& finding) { return finding.rule == "refill-storm" ? "refill_loop" : "calloc_loop"; }

std::optional<KnownFix> known_fix(const ReportData& data) {
  for (const auto& issue : entries_about(data.subject.allocator, &Project::duplicates, data.finding)) {
    if (const auto version = fixed_later(issue, data.subject.version.value_or(""))) return KnownFix{issue, *version};
  }
  return std::nullopt;
}

std::vector<ProjectEntry> causes_of(const ReportData& data) {
  auto causes = entries_about(data.subject.allocator, &Project::causes, data.finding);
  if (causes.empty()) causes.push_back({{}, {}, {}, hypothesis(data.finding), "unconfirmed"});
  return causes;
}

const Point* point_at(const std::vector<Point>& points, const std::string& allocator, const std::string& case_name,
                      std::uint64_t size, double touch, const std::string& thread) {
  const auto found = std::find_if(points.begin(), points.end(), [&](const Point& point) {
    return point.allocator == allocator && point.case_name == case_name && point.size_bytes == size &&
           point.touch == touch && point.thread == thread;
  });
  return found == points.end() ? nullptr : &*found;
}

}  // namespace zerotax::report
