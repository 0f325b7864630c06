// The same request costs one thing on the main thread and ten times that on another, or a tenth.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "base/size.h"
#include "base/units.h"
#include "core/operation_cost.h"
#include "findings/points.h"
#include "findings/rule.h"

namespace zerotax::findings {
namespace {

constexpr std::initializer_list<EvidenceMetric> kWorkerDiffersFigures{
    Metric::kZeroedBytes, Metric::kRedundantZeroedBytes, Metric::kCallocFaults, Metric::kTouchFaults,
    Metric::kCallocNs};

bool is_dearer(std::optional<std::uint64_t> one, std::optional<std::uint64_t> other, std::uint64_t whole) {
  return one && other && is_much(*one, whole) && is_little(*other, whole);
}

bool costs_more(const Point& one, const Point& other) {
  return is_dearer(operation_faults(one), operation_faults(other), pages_of(one)) ||
         is_dearer(one.evident_count(Metric::kRedundantZeroedBytes), other.evident_count(Metric::kRedundantZeroedBytes),
                   one.size_bytes);
}

std::string cost_words(const Point& point) {
  const auto words = [](std::optional<std::uint64_t> count) {
    return count ? format_count(*count) : std::string("n/a");
  };
  return fmt::format("{} redundant bytes and {} page faults", words(point.evident_count(Metric::kRedundantZeroedBytes)),
                     words(operation_faults(point)));
}

std::vector<Finding> find_worker_differs(const FindingSubject& subject) {
  std::map<std::tuple<std::uint64_t, double>, const Point*> on_main;
  std::vector<const Point*> on_worker;
  for (const Point* point : subject.points) {
    if (!is_plain_loop(*point)) continue;
    if (point->thread == "main") {
      on_main[{point->size_bytes, point->touch}] = point;
    } else {
      on_worker.push_back(point);
    }
  }
  const auto twin = [&](const Point& worker) -> const Point* {
    const auto found = on_main.find({worker.size_bytes, worker.touch});
    return found == on_main.end() ? nullptr : found->second;
  };
  std::vector<Finding> found;
  for (const bool worker_dearer : {true, false}) {
    const auto fires = [&](const Point& worker) {
      const Point* main = twin(worker);
      return main != nullptr && (worker_dearer ? costs_more(worker, *main) : costs_more(*main, worker));
    };
    for (const FiringRange& range : firing_ranges(on_worker, fires)) {
      Finding finding =
          finding_of(worker_dearer ? "worker-differs" : "worker-differs-cheaper", range, kWorkerDiffersFigures);
      for (const Point* worker : range.points)
        finding.evidence.push_back(evidence_of(*twin(*worker), kWorkerDiffersFigures));
      finding.severity = range.to_bytes >= kBigBlock ? Severity::kMedium : Severity::kLow;
      const Point& point = point_nearest(range, finding.named_bytes);
      const std::string size = format_size(point.size_bytes);
      finding.title =
          fmt::format("calloc({}) and free cost {} on a worker thread than on the main thread: {}, against {}{}", size,
                      worker_dearer ? "more" : "less", cost_words(point), cost_words(*twin(point)),
                      time_words(point, *twin(point)));
      finding.sentence = fmt::format(
          "At {}, an operation on another thread costs {} than the same on the main thread: at {} {}, against {}.",
          range_text(range.from_bytes, range.to_bytes), worker_dearer ? "at least ten times more" : "ten times less",
          size, cost_words(point), cost_words(*twin(point)));
      found.push_back(std::move(finding));
    }
  }
  return found;
}

const FindingRule worker_differs_rule("worker-differs", "behaviour that differs between the main thread and others",
                                      {"heat", "redundant"}, find_worker_differs);

}  // namespace
}  // namespace zerotax::findings
