// The hosts of a fleet do different work at the same point: what is counted there is a fact about a host, not about the
// allocator, and points of one run that come from both say different things.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/size.h"
#include "base/units.h"
#include "findings/points.h"
#include "findings/rule.h"

namespace zerotax::findings {
namespace {

constexpr std::array kCompared{Metric::kZeroedBytes, Metric::kRedundantZeroedBytes, Metric::kPopulatedBytes};

/// Two controls of one point whose counts differ, and in what.
struct Difference {
  const Point* one = nullptr;
  const Point* other = nullptr;
  Metric metric{};
};

std::optional<Difference> difference_of(const Point& one, const Point& other) {
  if (!one.is_ok() || !other.is_ok()) return std::nullopt;
  for (const Metric metric : kCompared) {
    const auto here = count_of(one, metric);
    const auto there = count_of(other, metric);
    if (!here || !there) continue;
    // What differs by less is a header or a page at an edge.
    if (!is_little(std::max(*here, *there) - std::min(*here, *there), one.size_bytes)) {
      return Difference{&one, &other, metric};
    }
  }
  return std::nullopt;
}

std::vector<Finding> find_host_differs(const FindingSubject& subject) {
  std::map<std::string, const Point*> firsts;
  std::vector<Difference> differences;
  std::vector<const Point*> differing;
  for (const Point* control : subject.controls) {
    const auto [first, is_new] = firsts.emplace(key_of(*control), control);
    if (is_new) continue;
    if (const auto difference = difference_of(*first->second, *control)) {
      differences.push_back(*difference);
      differing.push_back(control);
    }
  }
  const auto fires = [&](const Point& point) {
    return std::find(differing.begin(), differing.end(), &point) != differing.end();
  };
  std::vector<Finding> found;
  for (const FiringRange& range : firing_ranges(subject.controls, fires)) {
    Finding finding = finding_of("host-differs", range,
                                 {Metric::kZeroedBytes, Metric::kRedundantZeroedBytes, Metric::kPopulatedBytes});
    finding.severity = Severity::kMedium;
    const Point& shown = point_nearest(range, finding.named_bytes);
    const Difference& difference = *std::find_if(differences.begin(), differences.end(),
                                                 [&](const Difference& each) { return each.other == &shown; });
    const std::string one = difference.one->host.value_or("one host");
    const std::string other = shown.host.value_or("another");
    finding.title =
        fmt::format("calloc({}) does other work on {} than on {}", format_size(shown.size_bytes), other, one);
    finding.sentence = fmt::format(
        "At {}, {} of one {} is {} on {} and {} on {}, measured twice on each: the hosts differ (compare their "
        "environments in run.json), and so may other points of this run.",
        range_text(range.from_bytes, range.to_bytes), row_of(difference.metric).name, shown.case_name,
        bytes_words(*difference.one, difference.metric), one, bytes_words(shown, difference.metric), other);
    found.push_back(std::move(finding));
  }
  return found;
}

const FindingRule host_differs_rule("host-differs", "hosts of a fleet do different work at the same point", {"bytes"},
                                    find_host_differs);

}  // namespace
}  // namespace zerotax::findings
