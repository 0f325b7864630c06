#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/units.h"
#include "judge/cliff_edges.h"
#include "judge/points.h"
#include "judge/rule.h"
#include "point/typed_point.h"

// One more byte multiplies an operation's faults or zeroed bytes by ten or more, or divides them by ten or more.

namespace zerotax {
namespace {

const std::vector<EvidenceMetric> kCliffMetrics{Metric::kZeroedBytes, Metric::kCallocFaults, Metric::kTouchFaults,
                                                Metric::kFreeFaults, Metric::kCallocNs};

Finding finding_at(const CliffEdge& edge) {
  Finding finding;
  finding.name = "cliff";
  finding.exact = true;
  finding.from_bytes = finding.to_bytes = finding.named_bytes = edge.at_bytes;
  finding.severity = edge.at_bytes >= kBigBlock ? Severity::kMedium : Severity::kLow;
  const std::string time = time_words(*edge.above, *edge.below);
  const std::string at = format_count(edge.at_bytes);
  if (edge.is_exact()) {
    finding.title = fmt::format("one byte more than {}, and {}{}", format_count(edge.at_bytes - 1), edge.words, time);
    finding.sentence = fmt::format(
        "At {} bytes ({}) the behaviour of calloc changes with one byte of size: {} an "
        "operation{}.",
        at, format_size(edge.at_bytes), edge.words, time);
  } else {
    // The words describe the two measured sizes, not the sizes around the threshold.
    const std::string below = format_size(edge.below->size_bytes);
    const std::string above = format_size(edge.above->size_bytes);
    finding.title =
        fmt::format("from {} to {}, across the threshold at {} bytes, {}{}", below, above, at, edge.words, time);
    finding.sentence = fmt::format(
        "At {} bytes ({}) the behaviour of calloc changes: from {} below it to {} above, {} an operation{}.", at,
        format_size(edge.at_bytes), below, above, edge.words, time);
  }
  return finding;
}

std::vector<Finding> find_cliff(const FindingSubject& subject) {
  std::map<std::uint64_t, Finding> found;
  for (const CliffEdge& edge : cliff_edges(subject)) {
    Finding& finding = found.try_emplace(edge.at_bytes, finding_at(edge)).first->second;
    finding.evidence.push_back(evidence_of(*edge.below, kCliffMetrics));
    finding.evidence.push_back(evidence_of(*edge.above, kCliffMetrics));
  }
  std::vector<Finding> findings;
  findings.reserve(found.size());
  for (auto& entry : found) findings.push_back(std::move(entry.second));
  return findings;
}

const FindingRule cliff_rule("cliff", "faults or zeroed bytes change by ten times within one byte of size",
                             {"faults", "whole_faults"}, find_cliff);

}  // namespace

}  // namespace zerotax

// The first call behaves differently from later ones. A benchmark of one call therefore does not show the costs of a
// service.

namespace zerotax {
namespace {

using Share = bool (*)(std::uint64_t part, std::uint64_t whole);

/// Whether the redundant share of the first call meets one condition, and the redundant share of the later calls meets
/// the other.
bool differ(const Point& point, Share of_first_call, Share of_later) {
  const auto first = borne_out(point, of_first(Metric::kRedundantZeroedBytes));
  const auto later = borne_out(point, Metric::kRedundantZeroedBytes);
  return first && later && of_first_call(*first, point.size_bytes) && of_later(*later, point.size_bytes);
}

/// The early call with the most faults, and its number of faults.
std::pair<std::uint64_t, std::uint64_t> worst_call(const Point& point) {
  std::pair<std::uint64_t, std::uint64_t> worst{1, 0};
  for (const FirstOperation& early : point.first_ops) {
    const std::uint64_t faults = early.evident_count(Metric::kCallocFaults).value_or(0);
    if (faults > worst.second) worst = {early.op, faults};
  }
  return worst;
}

FindingKind kind_of(const FindingSubject& subject, const char* name, Share of_first_call, Share of_later) {
  const auto fires = [=](const Point& point) { return differ(point, of_first_call, of_later); };
  const auto slots = [&](const Point& point, const FiringRange&) {
    const auto [call, faults] = worst_call(point);
    return Slots{{"first", format_count(*count_of(point, of_first(Metric::kRedundantZeroedBytes)))},
                 {"later", format_count(*point.evident_count(Metric::kRedundantZeroedBytes))},
                 {"most", faults == 0 ? ""
                                      : fmt::format("; most page faults of an early call, {}, are in call {}",
                                                    format_count(faults), call)},
                 {"peer", peer_words(subject, point, calloc_ns)}};
  };
  return {name,
          {of_first(Metric::kRedundantZeroedBytes), Metric::kRedundantZeroedBytes, of_first(Metric::kCallocFaults),
           Metric::kCallocFaults, of_first(Metric::kCallocNs), Metric::kCallocNs},
          not_on_worker_alone(subject, fires),
          {Severity::kLow, Severity::kLow},
          "the first calloc({size}) zeroes {first} bytes needlessly, later ones {later}{peer}",
          "At {sizes}, the first call behaves otherwise than the later ones: at {size} it writes {first} redundant "
          "zeros, and later calls {later}{most}.",
          slots};
}

std::vector<Finding> find_first_calls(const FindingSubject& subject) {
  // If the program writes to its block, later blocks are dirty, so later calls differ from the first in any allocator.
  const auto points =
      points_that(subject, [](const Point& point) { return is_plain_loop(point) && point.touch == 0.0; });
  return find_kinds({kind_of(subject, "first-calls-differ", is_little, is_much),
                     kind_of(subject, "first-calls-differ-dearer", is_much, is_little)},
                    points);
}

const FindingRule first_calls_rule("first-calls-differ", "first calls that differ from later ones",
                                   {"bytes", "first_redundant"}, find_first_calls);

}  // namespace

}  // namespace zerotax

// The hosts of a fleet do different work at the same point. A count then describes a host, not the allocator, and
// points of different hosts in one run cannot be compared.

namespace zerotax {
namespace {

const std::vector<EvidenceMetric> kHostMetrics{Metric::kZeroedBytes, Metric::kRedundantZeroedBytes,
                                               Metric::kPopulatedBytes};

/// Two controls of one point, and the metric whose counts differ.
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
    // A smaller difference is a header, or a page at the edge of the block.
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
        "calloc({size}) does different work on {other} than on {one}",
        "At {sizes}, {metric} of one {case} is {on_one} on {one} and {on_other} on {other}, measured twice on each: "
        "the hosts differ (compare their environments in run.json), so other points of this run may differ, too.",
        slots}},
      subject.controls);
}

const FindingRule host_differs_rule("host-differs", "hosts of a fleet do different work at the same point", {"bytes"},
                                    find_host_differs);

}  // namespace

}  // namespace zerotax

// A request costs ten times as much, or a tenth as much, on a worker thread as on the main thread.

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
