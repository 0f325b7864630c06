// The same request costs one thing on the main thread and ten times that on another, or a tenth.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "base/units.h"
#include "judge/points.h"
#include "judge/rule.h"
#include "point/operation_cost.h"

namespace zerotax {
namespace {

const std::vector<EvidenceMetric> kWorkerMetrics{Metric::kZeroedBytes, Metric::kRedundantZeroedBytes,
                                                 Metric::kCallocFaults, Metric::kTouchFaults, Metric::kCallocNs};

bool is_dearer(std::optional<std::uint64_t> one, std::optional<std::uint64_t> other, std::uint64_t whole) {
  return one && other && is_much(*one, whole) && is_little(*other, whole);
}

bool costs_more(const Point& one, const Point& other) {
  return is_dearer(operation_faults(one), operation_faults(other), pages_of(one)) ||
         is_dearer(borne_out(one, Metric::kRedundantZeroedBytes), borne_out(other, Metric::kRedundantZeroedBytes),
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
  for (const bool dearer : {true, false}) {
    const auto fires = [&](const Point& worker) {
      const Point* main = twin(worker);
      return main != nullptr && (dearer ? costs_more(worker, *main) : costs_more(*main, worker));
    };
    const auto slots = [&](const Point& point, const FiringRange&) {
      return Slots{{"more", dearer ? "more" : "less"},
                   {"times", dearer ? "at least ten times more" : "ten times less"},
                   {"cost", cost_words(point)},
                   {"main", cost_words(*twin(point))},
                   {"time", time_words(point, *twin(point))}};
    };
    const FindingKind kind{dearer ? "worker-differs" : "worker-differs-cheaper",
                           kWorkerMetrics,
                           fires,
                           {Severity::kMedium, Severity::kLow},
                           "calloc({size}) and free cost {more} on a worker thread than on the main thread: {cost}, "
                           "against {main}{time}",
                           "At {sizes}, an operation on another thread costs {times} than the same on the main thread: "
                           "at {size} {cost}, against {main}.",
                           slots};
    for (const FiringRange& range : firing_ranges(on_worker, fires)) {
      Finding& finding = found.emplace_back(finding_of(kind, range));
      for (const Point* worker : range.points) finding.evidence.push_back(evidence_of(*twin(*worker), kWorkerMetrics));
    }
  }
  return found;
}

const FindingRule worker_differs_rule("worker-differs", "behaviour that differs between the main thread and others",
                                      {"heat", "redundant"}, find_worker_differs);

}  // namespace
}  // namespace zerotax
