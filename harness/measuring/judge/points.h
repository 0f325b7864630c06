#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/rule.h"

namespace zerotax {

/// What the rules have in common: reading metrics of a point, and joining points to ranges of sizes.

/// A metric of the steady state, or of the process's first operation.
struct EvidenceMetric {
  constexpr EvidenceMetric(Metric which, bool is_first = false)  // NOLINT(google-explicit-constructor)
      : metric(which), first(is_first) {}
  Metric metric;
  bool first;

  /// "zeroed_bytes", "first_zeroed_bytes".
  [[nodiscard]] std::string key() const;
};
constexpr EvidenceMetric of_first(Metric metric) { return {metric, true}; }

/// A count that is evidence (MetricValues::evident_count); nothing if it was not measured.
std::optional<std::uint64_t> count_of(const Point& point, EvidenceMetric metric);

/// The same, but an upper bound only if something else bears it out, for a bound is no finding by itself. Zeros over
/// fresh memory: the timing pass took the faults for it in that call. Over memory that was there: calloc takes longer
/// than malloc by a time that can be that of storing zeros (zero_ns). In free: contents of the program are gone;
/// nothing else.
std::optional<std::uint64_t> borne_out(const Point& point, EvidenceMetric metric);

/// Median of calloc alone in the steady state, nanoseconds.
std::optional<double> calloc_ns(const Point& point);

/// "up to ", or nothing for bytes that are exact.
std::string bound_words(bool upper_bound);

/// Zeroed bytes for people: "1,048,576", "up to 1,048,576" where they are an upper bound, "n/a".
std::string bytes_words(const Point& point, EvidenceMetric metric);

/// Whether a point is of calloc_loop and was measured to its end.
bool is_plain_loop(const Point& point);

/// The points of a subject of which something holds; those that are plain loops.
std::vector<const Point*> points_that(const FindingSubject& subject, const std::function<bool(const Point&)>& holds);
std::vector<const Point*> plain_loops(const FindingSubject& subject);

std::uint64_t pages_of(const Point& point);

/// A part of a whole is much of it from a half on and next to nothing up to a twentieth: between the two lies the
/// factor of ten that makes a difference of behaviour.
bool is_much(std::uint64_t part, std::uint64_t whole);
bool is_little(std::uint64_t part, std::uint64_t whole);

/// Points of neighbouring sizes that show the same thing.
struct FiringRange {
  std::uint64_t from_bytes;
  std::uint64_t to_bytes;
  std::vector<const Point*> points;  ///< that show it, by size
};

/// The ranges of neighbours among the sizes of `considered` at which at least one point fires.
std::vector<FiringRange> firing_ranges(std::vector<const Point*> considered,
                                       const std::function<bool(const Point&)>& fires);

/// Fires for what `fires` does, but not on a worker thread alone: where the main thread is measured at the same size
/// and touch and does not, it is the difference between the two that is a finding (worker-differs).
std::function<bool(const Point&)> not_on_worker_alone(const FindingSubject& subject,
                                                      std::function<bool(const Point&)> fires);

/// The point of a range whose size is nearest to `size_bytes`: the one that words are about.
const Point& point_nearest(const FiringRange& range, std::uint64_t size_bytes);

/// A point as evidence: where it was measured, and the metrics that count.
EvidencePoint evidence_of(const Point& point, const std::vector<EvidenceMetric>& metrics);

/// What stands in the slots of a kind's phrases.
using Slots = std::vector<std::pair<const char*, std::string>>;

/// A kind of finding: which points show it, and what is said of it. Slots of the phrases: {sizes} of the range, {size}
/// of the point that the words are about, and those that `slots` fills with what is known of that point of the range.
struct FindingKind {
  const char* name;
  std::vector<EvidenceMetric> evidence;
  std::function<bool(const Point&)> fires;
  std::pair<Severity, Severity> severity;  ///< where a block is of kBigBlock or more, and else
  const char* title;
  const char* sentence;
  std::function<Slots(const Point&, const FiringRange&)> slots;
  std::optional<ShownIn> shown_in = {};
};

/// The finding of a range; its words are about `shown`, or the point whose size names it.
Finding finding_of(const FindingKind& kind, const FiringRange& range, const Point* shown = nullptr);

/// One finding for each kind and range of sizes at which `points` show it.
std::vector<Finding> find_kinds(const std::vector<FindingKind>& kinds, const std::vector<const Point*>& points);

/// The fastest other allocator at the same case, size, touch and thread.
struct Peer {
  std::string label;
  double ns;
  double ratio;  ///< how many times as long the subject took
};
/// `own`: what the subject took; nothing if that is not known. `time`: what a point of another took.
std::optional<Peer> fastest_peer(const FindingSubject& subject, const Point& point, std::optional<double> own,
                                 const std::function<std::optional<double>(const Point&)>& time);

/// ", 3,100 times as long as jemalloc 5.3.0" if it is at least twice, else "". `own`: as above; or what `time` says.
std::string peer_words(const FindingSubject& subject, const Point& point, std::optional<double> own,
                       const std::function<std::optional<double>(const Point&)>& time);
std::string peer_words(const FindingSubject& subject, const Point& point,
                       const std::function<std::optional<double>(const Point&)>& time);

/// What `one` takes against `other`, whole operations: ", 46 times the time", ", 1/46 of the time"; "" if that is less
/// than twice, or not known.
std::string time_words(const Point& one, const Point& other);

}  // namespace zerotax
