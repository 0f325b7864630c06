#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/rule.h"

namespace zerotax {

/// Functions that rules share: reading metrics of a point, and joining points into ranges of sizes.

/// A metric of the steady state, or of the process's first operation.
struct EvidenceMetric {
  constexpr EvidenceMetric(Metric which, bool is_first = false)  // NOLINT(google-explicit-constructor)
      : metric(which), first(is_first) {}
  Metric metric;
  bool first;

  /// The metric's key, such as "zeroed_bytes" or "first_zeroed_bytes".
  [[nodiscard]] std::string key() const;
};
constexpr EvidenceMetric of_first(Metric metric) { return {metric, true}; }

/// A count that is evidence (MetricValues::evident_count); no value if it was not measured.
std::optional<std::uint64_t> count_of(const Point& point, EvidenceMetric metric);

/// A count that is evidence and not just an upper bound; a bound needs confirmation by another measurement. Zeros over
/// fresh memory are confirmed if the timing pass saw the faults that populate this memory in the same call. Zeros over
/// memory already populated are confirmed if calloc takes longer than malloc by a plausible time for storing them
/// (zero_ns). Zeros in free are confirmed only if the program's data in the block is gone.
std::optional<std::uint64_t> borne_out(const Point& point, EvidenceMetric metric);

/// Median time of calloc alone in the steady state, in nanoseconds.
std::optional<double> calloc_ns(const Point& point);

/// "up to " for an upper bound; empty for an exact number of bytes.
std::string bound_words(bool upper_bound);

/// Zeroed bytes for people: "1,048,576", "up to 1,048,576" for an upper bound, or "n/a".
std::string bytes_words(const Point& point, EvidenceMetric metric);

/// Whether a point is of the case calloc_loop and was measured completely.
bool is_plain_loop(const Point& point);

/// points_that returns the points of a subject for which `holds` is true; plain_loops returns the plain loops.
std::vector<const Point*> points_that(const FindingSubject& subject, const std::function<bool(const Point&)>& holds);
std::vector<const Point*> plain_loops(const FindingSubject& subject);

std::uint64_t pages_of(const Point& point);

/// A part is much of a whole from one half on, and little up to one twentieth. The limits are a factor of ten apart, so
/// that parts on different sides of both limits show different behavior.
bool is_much(std::uint64_t part, std::uint64_t whole);
bool is_little(std::uint64_t part, std::uint64_t whole);

/// Points of neighboring sizes that show the same finding.
struct FiringRange {
  std::uint64_t from_bytes;
  std::uint64_t to_bytes;
  std::vector<const Point*> points;  ///< the points that show the finding, by size
};

/// The ranges of neighboring sizes in `considered` at which at least one point fires.
std::vector<FiringRange> firing_ranges(std::vector<const Point*> considered,
                                       const std::function<bool(const Point&)>& fires);

/// Returns a condition that is true where `fires` is true, unless `fires` is true only on a worker thread. If the main
/// thread was measured at the same size and touch and does not fire, the finding is the difference between the threads
/// (worker-differs).
std::function<bool(const Point&)> not_on_worker_alone(const FindingSubject& subject,
                                                      std::function<bool(const Point&)> fires);

/// The point of a range whose size is nearest to `size_bytes`. The words of a finding describe this point.
const Point& point_nearest(const FiringRange& range, std::uint64_t size_bytes);

/// Turns a point into evidence: its axes, and the given metrics.
EvidencePoint evidence_of(const Point& point, const std::vector<EvidenceMetric>& metrics);

/// The texts to put into the slots of a kind's phrases.
using Slots = std::vector<std::pair<const char*, std::string>>;

/// A kind of finding, with the condition for its points and with its phrases. The phrases contain slots. {sizes} is the
/// range, and {size} is the size of the point that the words describe. `slots` fills all other slots from this point.
struct FindingKind {
  const char* name;
  std::vector<EvidenceMetric> evidence;
  std::function<bool(const Point&)> fires;
  std::pair<Severity, Severity> severity;  ///< for blocks of kBigBlock or more, and for smaller ones
  const char* title;
  const char* sentence;
  std::function<Slots(const Point&, const FiringRange&)> slots;
  std::optional<ShownIn> shown_in = {};
};

/// Makes the finding of a range. The finding's words describe `shown`, or else the point whose size names the range.
Finding finding_of(const FindingKind& kind, const FiringRange& range, const Point* shown = nullptr);

/// Makes one finding for each kind, and for each range of sizes at which `points` show that kind.
std::vector<Finding> find_kinds(const std::vector<FindingKind>& kinds, const std::vector<const Point*>& points);

/// The fastest other allocator at the same case, size, touch and thread.
struct Peer {
  std::string label;
  double ns;
  double ratio;  ///< the subject's time divided by the peer's
};
/// Finds the fastest peer. `own` is the subject's time; no value if unknown. `time` returns the time of another
/// allocator's point.
std::optional<Peer> fastest_peer(const FindingSubject& subject, const Point& point, std::optional<double> own,
                                 const std::function<std::optional<double>(const Point&)>& time);

/// Compares with the fastest peer, as in ", 3,100 times as long as jemalloc 5.3.0"; empty if the ratio is below 2.
/// `own` and `time` are as for fastest_peer; without `own`, `time` also gives the subject's time.
std::string peer_words(const FindingSubject& subject, const Point& point, std::optional<double> own,
                       const std::function<std::optional<double>(const Point&)>& time);
std::string peer_words(const FindingSubject& subject, const Point& point,
                       const std::function<std::optional<double>(const Point&)>& time);

/// Compares the times of whole operations, as in ", 46 times the time" or ", 1/46 of the time"; empty if the ratio is
/// below 2 or unknown.
std::string time_words(const Point& one, const Point& other);

}  // namespace zerotax
