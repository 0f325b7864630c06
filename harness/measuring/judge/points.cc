#include "judge/points.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "base/units.h"
#include "judge/judgement.h"
#include "os/page.h"
#include "point/typed_point.h"

namespace zerotax {
namespace {

/// The values of the steady state or of the first operation; nullptr if they are absent.
const MetricValues* values_of(const Point& point, EvidenceMetric metric) {
  if (!metric.first) return &point;
  return point.first();
}

}  // namespace

std::string EvidenceMetric::key() const { return (first ? "first_" : "") + std::string(row_of(metric).key); }

std::optional<std::uint64_t> count_of(const Point& point, EvidenceMetric metric) {
  const MetricValues* values = values_of(point, metric);
  return values == nullptr ? std::nullopt : values->evident_count(metric.metric);
}

std::optional<std::uint64_t> borne_out(const Point& point, EvidenceMetric metric) {
  const auto count = count_of(point, metric);
  if (!count || *count == 0 || !values_of(point, metric)->is_upper_bound(metric.metric)) return count;
  if (metric.metric == Metric::kRedundantZeroedInFreeBytes) return std::nullopt;
  if (metric.metric == Metric::kZeroedInFreeBytes) {
    const auto redundant = count_of(point, {Metric::kRedundantZeroedInFreeBytes, metric.first});
    return redundant && *redundant < *count && is_much(*count - *redundant, point.size_bytes) ? count : std::nullopt;
  }
  const auto populated = count_of(point, {Metric::kPopulatedBytes, metric.first});
  if (populated && is_much(*populated, point.size_bytes)) {
    const auto faults = count_of(point, {Metric::kCallocFaults, metric.first});
    return faults && can_have_populated(*faults, *populated, point.page_bytes()) ? count : std::nullopt;
  }
  return !metric.first && point.number(Metric::kZeroNs).value_or(0) > 0 ? count : std::nullopt;
}

std::optional<double> calloc_ns(const Point& point) { return point.number(Metric::kCallocNs); }

std::string bound_words(bool upper_bound) { return upper_bound ? "up to " : ""; }

std::string bytes_words(const Point& point, EvidenceMetric metric) {
  const auto count = count_of(point, metric);
  if (!count) return "n/a";
  return bound_words(*count > 0 && values_of(point, metric)->is_upper_bound(metric.metric)) + format_count(*count);
}

bool is_plain_loop(const Point& point) { return point.is_ok() && point.case_name == "calloc_loop"; }

std::vector<const Point*> points_that(const FindingSubject& subject, const std::function<bool(const Point&)>& holds) {
  std::vector<const Point*> points;
  std::copy_if(subject.points.begin(), subject.points.end(), std::back_inserter(points),
               [&](const Point* point) { return holds(*point); });
  return points;
}

std::vector<const Point*> plain_loops(const FindingSubject& subject) { return points_that(subject, is_plain_loop); }

std::uint64_t pages_of(const Point& point) { return (point.size_bytes + point.page_bytes() - 1) / point.page_bytes(); }

bool is_much(std::uint64_t part, std::uint64_t whole) { return 2 * part >= whole; }

bool is_little(std::uint64_t part, std::uint64_t whole) { return 20 * part <= whole; }

std::vector<FiringRange> firing_ranges(std::vector<const Point*> considered,
                                       const std::function<bool(const Point&)>& fires) {
  std::stable_sort(considered.begin(), considered.end(),
                   [](const Point* one, const Point* other) { return one->size_bytes < other->size_bytes; });
  std::vector<FiringRange> ranges;
  bool joined = false;
  for (std::size_t begin = 0; begin < considered.size();) {
    const std::uint64_t size = considered[begin]->size_bytes;
    std::size_t end = begin;
    std::vector<const Point*> firing;
    for (; end < considered.size() && considered[end]->size_bytes == size; ++end) {
      if (fires(*considered[end])) firing.push_back(considered[end]);
    }
    if (!firing.empty()) {
      if (!joined) ranges.push_back({size, size, {}});
      ranges.back().to_bytes = size;
      ranges.back().points.insert(ranges.back().points.end(), firing.begin(), firing.end());
    }
    joined = !firing.empty();
    begin = end;
  }
  return ranges;
}

std::function<bool(const Point&)> not_on_worker_alone(const FindingSubject& subject,
                                                      std::function<bool(const Point&)> fires) {
  return [&subject, fires = std::move(fires)](const Point& point) {
    if (!fires(point)) return false;
    if (point.thread == "main") return true;
    return std::none_of(subject.points.begin(), subject.points.end(), [&](const Point* other) {
      return other->thread == "main" && other->size_bytes == point.size_bytes && other->touch == point.touch &&
             other->case_name == point.case_name && other->is_ok() && !fires(*other);
    });
  };
}

const Point& point_nearest(const FiringRange& range, std::uint64_t size_bytes) {
  const auto distance = [&](const Point* point) {
    return std::abs(static_cast<std::int64_t>(point->size_bytes) - static_cast<std::int64_t>(size_bytes));
  };
  return **std::min_element(range.points.begin(), range.points.end(),
                            [&](const Point* one, const Point* other) { return distance(one) < distance(other); });
}

EvidencePoint evidence_of(const Point& point, const std::vector<EvidenceMetric>& metrics) {
  EvidencePoint evidence{point.case_name, point.size_bytes, point.touch, point.thread, {}};
  for (const EvidenceMetric metric : metrics) {
    NamedMetric& named = evidence.metrics.emplace_back(NamedMetric{metric.key(), {}});
    if (const auto count = count_of(point, metric)) {
      named.value = {*count};
    } else {
      named.value = NotAvailable{metric.first ? "not measured by this pass" : point.why_not(metric.metric)};
    }
  }
  return evidence;
}

Finding finding_of(const FindingKind& kind, const FiringRange& range, const Point* shown) {
  Finding finding;
  finding.name = kind.name;
  finding.shown_in = kind.shown_in;
  finding.from_bytes = range.from_bytes;
  finding.to_bytes = range.to_bytes;
  finding.named_bytes = shown != nullptr ? shown->size_bytes : named_size(range.from_bytes, range.to_bytes);
  for (const Point* point : range.points) finding.evidence.push_back(evidence_of(*point, kind.evidence));
  finding.severity = range.to_bytes >= kBigBlock ? kind.severity.first : kind.severity.second;
  const Point& point = shown != nullptr ? *shown : point_nearest(range, finding.named_bytes);
  Slots slots = kind.slots(point, range);
  slots.emplace_back("sizes", range_text(range.from_bytes, range.to_bytes));
  slots.emplace_back("size", format_size(point.size_bytes));
  fmt::dynamic_format_arg_store<fmt::format_context> words;
  for (const auto& [name, text] : slots) words.push_back(fmt::arg(name, text));
  finding.title = fmt::vformat(kind.title, words);
  finding.sentence = fmt::vformat(kind.sentence, words);
  return finding;
}

std::vector<Finding> find_kinds(const std::vector<FindingKind>& kinds, const std::vector<const Point*>& points) {
  std::vector<Finding> found;
  for (const FindingKind& kind : kinds) {
    for (const FiringRange& range : firing_ranges(points, kind.fires)) found.push_back(finding_of(kind, range));
  }
  return found;
}

std::optional<Peer> fastest_peer(const FindingSubject& subject, const Point& point, std::optional<double> own,
                                 const std::function<std::optional<double>(const Point&)>& time) {
  if (!own) return std::nullopt;
  std::optional<Peer> best;
  for (const Point* peer : subject.peers) {
    if (!peer->is_ok()) continue;
    const bool same = peer->case_name == point.case_name && peer->size_bytes == point.size_bytes &&
                      peer->touch == point.touch && peer->thread == point.thread;
    const auto ns = same ? time(*peer) : std::nullopt;
    if (ns && (!best || *ns < best->ns)) best = Peer{allocator_label(*peer), *ns, *own / std::max(*ns, 1.0)};
  }
  return best;
}

std::string peer_words(const FindingSubject& subject, const Point& point, std::optional<double> own,
                       const std::function<std::optional<double>(const Point&)>& time) {
  const auto peer = fastest_peer(subject, point, own, time);
  if (!peer || peer->ratio < 2) return "";
  return fmt::format(", {} times as long as {}", format_ratio(peer->ratio), peer->label);
}

std::string peer_words(const FindingSubject& subject, const Point& point,
                       const std::function<std::optional<double>(const Point&)>& time) {
  return peer_words(subject, point, time(point), time);
}

std::string time_words(const Point& one, const Point& other) {
  const auto ns = operation_ns(one);
  const auto other_ns = operation_ns(other);
  if (!ns || !other_ns || *ns <= 0 || *other_ns <= 0) return "";
  const double ratio = *ns / *other_ns;
  if (ratio >= 2) return fmt::format(", {} times the time", format_ratio(ratio));
  return ratio <= 0.5 ? fmt::format(", 1/{} of the time", format_ratio(1 / ratio)) : "";
}

}  // namespace zerotax
