#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "baseline/baseline.h"
#include "judge/comparison.h"

namespace zerotax::baseline {

// The interpretation of a new measurement of an allocator compared with its baseline, as data and in sentences. The
// functions of findings judge each point. The code here only describes the differences.

/// The cause of a change, in the words of a maintainer.
enum class Cause : std::uint8_t {
  kFails,          ///< calloc crashes, hangs, or returns NULL
  kNotZero,        ///< calloc hands out dirty memory and breaks its promise
  kMisaligned,     ///< calloc hands out blocks whose alignment is too small for some types
  kZeroesFresh,    ///< calloc writes zeros over memory that is fresh from the kernel
  kZeroesReused,   ///< calloc writes zeros over a reused block that is still zero
  kZeroesBeyond,   ///< calloc zeroes more than the request
  kZeroesInFree,   ///< free writes zeros over the block
  kReturnsMemory,  ///< memory is returned to the kernel by free or the next calloc, and the kernel zeroes it again
  kThreshold,      ///< a threshold moved, is new, is gone or has a different meaning; also the changes that follow from
                   ///< this
  // Changes that no rule names:
  kZeroedBytes,  ///< more or fewer zeroed bytes
  kFaults,       ///< more or fewer page faults, or bytes populated
  kSystemCalls,  ///< different system calls
  kPlacement,    ///< the kind of memory in which the block lies, or the method of writing zeros
  kNotMeasured,  ///< a point of the baseline is no longer measured
};
ENUM_WORDS(Cause, "fails", "not_zero", "misaligned", "zeroes_fresh", "zeroes_reused", "zeroes_beyond", "zeroes_in_free",
           "returns_memory", "threshold", "zeroed_bytes", "faults", "system_calls", "placement", "not_measured")
/// Returns whether the cause is one of the first three. For these causes, calloc does not work.
bool is_failure(Cause cause);

struct ReviewRange {
  RESULT("sizes",
         "A range of neighboring sizes, both ends included. An inexact bound is a measured size. An exact bound is "
         "known from a threshold.");
  FIELD(std::uint64_t, from_bytes, "Smallest size, in bytes.");
  FIELD(std::uint64_t, to_bytes, "Largest size, in bytes.");
  FIELD(bool, from_exact, "Whether the smallest size is exact to the byte.");
  FIELD(bool, to_exact, "Whether the largest size is exact to the byte.");
  bool operator==(const ReviewRange&) const = default;
};

/// The metric that shows a group at one point.
struct ReviewExample {
  PointIdentity point;
  std::optional<Metric> metric;  ///< the metric; absent for the status
  std::uint64_t call = 0;        ///< number of the early call, from 1; 0 for the steady state
  MetricValue before;
  MetricValue after;
  std::string words;  ///< the example in words, such as "1 → 5,121 faults at 20 MiB"
};

struct ReviewThreshold {
  RESULT("moved threshold",
         "A threshold of a group. Both sizes are present if the threshold moved, or has another meaning at the same "
         "size.");
  FIELD(std::optional<std::uint64_t>, before_bytes,
        "The threshold in the baseline, in bytes; null for a new threshold.", kNullIfEmpty, least(1));
  FIELD(std::optional<std::uint64_t>, after_bytes,
        "The threshold in this check, in bytes; null for a threshold that is gone.", kNullIfEmpty, least(1));
  bool operator==(const ReviewThreshold&) const = default;
  /// Returns the current size of the threshold, or the former size if the threshold is gone.
  [[nodiscard]] std::uint64_t at_bytes() const { return before_bytes ? *before_bytes : *after_bytes; }
  [[nodiscard]] bool is_move() const { return before_bytes && after_bytes && before_bytes != after_bytes; }
};

/// All changes with one cause, one direction and one scope.
struct ReviewGroup {
  Cause cause = Cause::kPlacement;
  Direction direction = Direction::kNeither;
  bool first_calls_only = false;    ///< whether only the first calls of a process changed
  std::string thread;               ///< "main" or "worker" if the other thread was compared and did not change;
                                    ///< otherwise empty
  std::optional<double> touch;      ///< the only touched fraction that changed, if others were compared; otherwise
                                    ///< absent
  std::vector<std::string> cases;   ///< cases of the group's points, in the order of the baseline
  std::vector<ReviewRange> ranges;  ///< sizes of the group, ascending; empty if the group has none
  std::vector<ReviewThreshold> thresholds;  ///< thresholds that belong to the group
  std::optional<ReviewExample> example;
  std::string title;                 ///< the cause, at most 60 columns: "calloc zeroes fresh memory"
  std::string sentence;              ///< "every calloc from 64 KiB to 100 MiB now zeroes
                                     ///< fresh memory: 1 → 5,121 faults at 20 MiB"
  std::vector<std::size_t> changes;  ///< indexes into Review::changes; each change belongs to exactly one group
};

struct Review {
  Verdict verdict = Verdict::kSame;
  std::string sentence;             ///< the verdict in one sentence: "worse: ", the sentence of the first group and the
                                    ///< number of other groups
  std::vector<ReviewGroup> groups;  ///< worse, then better, then neither; within each direction, the most severe first
  std::vector<BaselineChange> changes;
  std::vector<std::string> too_small;  ///< names of differences that are too small to count as changes, at points
                                       ///< without a larger difference
};

/// Reviews the changes (from compare_baselines and points_not_measured) between a baseline and a new measurement of all
/// or some of its points. `changes` may be a subset of all differences, such as the differences that last.
Review review_changes(const Baseline& before, const Baseline& after, std::vector<BaselineChange> changes);

// The parts of a review: causes, groups, thresholds, words.

/// The cause that a change is attributed to.
struct Blame {
  Cause cause = Cause::kPlacement;
  Direction direction = Direction::kNeither;
  bool first_calls_only = false;
  bool judged = false;  ///< whether a verdict function of findings found the cause; otherwise the metric alone
                        ///< determined it

  /// Returns whether two changes belong to the same group if threads are ignored.
  [[nodiscard]] bool is_like(const Blame& other) const {
    return cause == other.cause && direction == other.direction && first_calls_only == other.first_calls_only;
  }
};

/// Returns the causes of all changes of points, in order. Thresholds are skipped. A change without its own cause gets
/// the cause of the same metric at the same size, with a different touch or on the other thread.
std::vector<Blame> blame_changes(const Baseline& before, const Baseline& after,
                                 const std::vector<BaselineChange>& changes);

/// The cause for a change of one metric alone, and the words after its value, with a placeholder for the plural.
/// Without words (nullptr), the metric's display name is used.
struct MetricWords {
  Metric metric;
  Cause cause;
  const char* unit = nullptr;
};
/// Returns a value as text, such as "1,048,576", "madvise, munmap" or "heap".
std::string value_words(const MetricValue& value);
/// Returns the words of one of kSteadyMetrics.
const MetricWords& words_of(Metric metric);

/// Returns the direction of a single change. A larger number is worse, and a different word is neither.
Direction direction_of(const BaselineChange& change);

/// A group under construction.
struct Draft {
  ReviewGroup group;
  bool judged = false;         ///< whether a verdict function of findings found the cause; otherwise the metric alone
                               ///< determined it
  std::optional<Cause> moved;  ///< for a group of a moved threshold: the cause of the changes at the sizes between the
                               ///< old and the new threshold
};

/// The input of a review.
struct ReviewInput {
  const Baseline& before;
  const Baseline& after;
  const std::vector<BaselineChange>& changes;
  std::vector<PointIdentity> compared = {};  ///< points that both sides contain
};

/// Returns the sizes of a case at which both sides have a point of this thread (any if empty) with this touch (any if
/// absent).
std::set<std::uint64_t> compared_sizes(const ReviewInput& input, const std::string& case_name,
                                       const std::string& thread, std::optional<double> touch = {});

/// Returns whether both values are only a few bytes of the block. For example, some allocators zero a few bytes at a
/// thread's start.
bool is_slight(std::uint64_t size_bytes, std::optional<Metric> metric, const MetricValue& before,
               const MetricValue& after);

/// Returns whether a point's change is too small to report by itself. The rule of compare decides on bytes. For faults,
/// the rule is applied to the bytes that the faults populate. A small change joins a larger change of its point.
bool is_beneath_notice(const BaselineChange& change);

/// Returns the groups of all changes of points, unordered, with the ranges that were measured. Thresholds are skipped.
std::vector<Draft> draft_groups(const ReviewInput& input);

/// Adds each change of a threshold to the group whose sizes the threshold bounds, and makes the group's range exact.
/// All other thresholds get separate groups.
void add_thresholds(const ReviewInput& input, std::vector<Draft>& drafts);

/// Adds the example, the title and the sentence of a group.
void put_in_words(const ReviewInput& input, Draft& draft);

/// Returns the verdict on all groups in one sentence.
std::string sentence_of(const ReviewInput& input, Verdict verdict, const std::vector<ReviewGroup>& groups);

}  // namespace zerotax::baseline
