// The hosts of a fleet do different work at the same point: what is counted there is a fact about a host, not about the
// allocator, and points of one run that come from both say different things.
#include <algorithm>
#include <map>

#include "judge/points.h"
#include "judge/rule.h"

namespace zerotax {
namespace {

const std::vector<EvidenceMetric> kHostMetrics{Metric::kZeroedBytes, Metric::kRedundantZeroedBytes,
                                               Metric::kPopulatedBytes};

/// Two controls of one point whose counts differ, and in what.
struct Difference {
  const Point* one = nullptr;
  const Point* other = nullptr;
  Metric metric{};
};

std::optional<Difference> difference_of(const Point& one, const Point& other) {
  if (!one.is_ok() || !other.is_ok()) return std::nullopt;
  for (const EvidenceMetric& compared : kHostMetrics) {
    const Metric metric = compared.metric;
    const auto here = count_of(one, metric);
    const auto there = count_of(other, metric);
    if (!here || !there) continue;
    // A smaller difference is a header, or a page at an edge.
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
  const auto slots = [&](const Point& shown, const FiringRange&) {
    const Difference& difference = *std::find_if(differences.begin(), differences.end(),
                                                 [&](const Difference& each) { return each.other == &shown; });
    return Slots{{"one", difference.one->host.value_or("one host")},
                 {"other", shown.host.value_or("another")},
                 {"metric", row_of(difference.metric).name},
                 {"case", shown.case_name},
                 {"on_one", bytes_words(*difference.one, difference.metric)},
                 {"on_other", bytes_words(shown, difference.metric)}};
  };
  return find_kinds(
      {{"host-differs",
        kHostMetrics,
        fires,
        {Severity::kMedium, Severity::kMedium},
        "calloc({size}) does other work on {other} than on {one}",
        "At {sizes}, {metric} of one {case} is {on_one} on {one} and {on_other} on {other}, measured twice "
        "on each: the hosts differ (compare their environments in run.json), and so may other points of "
        "this run.",
        slots}},
      subject.controls);
}

const FindingRule host_differs_rule("host-differs", "hosts of a fleet do different work at the same point", {"bytes"},
                                    find_host_differs);

}  // namespace
}  // namespace zerotax
