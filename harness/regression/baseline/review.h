#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "baseline/baseline.h"
#include "judge/comparison.h"

namespace zerotax::baseline {

// The meaning of a new measurement of an allocator compared with its baseline: typed and in sentences. The functions of
// findings judge each point; the code here only says what differs from before.

/// What has changed, as a maintainer would call it.
enum class Cause : std::uint8_t {
  kFails,          ///< calloc crashes, hangs, or returns NULL
  kNotZero,        ///< calloc hands out dirty memory: it broke its promise
  kMisaligned,     ///< calloc hands out blocks that are not aligned for every type
  kZeroesFresh,    ///< calloc writes zeros over memory that is fresh from the kernel
  kZeroesReused,   ///< calloc writes zeros over a reused block that nobody wrote to
  kZeroesBeyond,   ///< calloc zeroes more than was asked for
  kZeroesInFree,   ///< free writes zeros over the block
  kReturnsMemory,  ///< free, or the next calloc, gives memory back, and the kernel zeroes it again
  kThreshold,      ///< a threshold moved, is new, is gone or means something else; and what moved with it
  // What no rule has a name for:
  kZeroedBytes,  ///< more or fewer zeroed bytes
  kFaults,       ///< more or fewer page faults, or bytes populated
  kSystemCalls,  ///< other system calls
  kPlacement,    ///< where the block lives, or how the zeros are written
  kNotMeasured,  ///< a point of the baseline that is not measured any more
};
/// "zeroes_fresh", as in JSON.
const char* word_of(Cause cause);
/// Whether calloc does not work: the first three.
bool is_failure(Cause cause);

/// Sizes from one to another, both included, in bytes. A bound that is not exact is a measured size; one that is exact
/// is the very byte, known by a threshold.
struct ReviewRange {
  std::uint64_t from_bytes = 0;
  std::uint64_t to_bytes = 0;
  bool from_exact = false;
  bool to_exact = false;
  bool operator==(const ReviewRange&) const = default;
};

/// The figure that shows a group at one point.
struct ReviewExample {
  PointIdentity point;
  std::optional<Metric> metric;  ///< nothing: the status
  std::uint64_t call = 0;        ///< which of the first calls, from 1; 0: the steady state
  MetricValue before;
  MetricValue after;
  std::string words;  ///< "1 → 5,121 faults at 20 MiB"
};

/// A threshold of a group: where it was and where it is now, in bytes. Both are there if it moved, or means something
/// else at the same size; one alone if it is gone or new.
struct ReviewThreshold {
  std::optional<std::uint64_t> before_bytes;
  std::optional<std::uint64_t> after_bytes;
  bool operator==(const ReviewThreshold&) const = default;
  /// Where it is now, or was.
  [[nodiscard]] std::uint64_t at_bytes() const { return before_bytes ? *before_bytes : *after_bytes; }
  [[nodiscard]] bool is_move() const { return before_bytes && after_bytes && before_bytes != after_bytes; }
};

/// All changes with one cause, in one direction, under the same qualification.
struct ReviewGroup {
  Cause cause = Cause::kPlacement;
  Direction direction = Direction::kNeither;
  bool first_calls_only = false;    ///< the first calls of a process changed, later ones did not
  std::string thread;               ///< "main" or "worker" if the other one was compared and
                                    ///< did not change; or empty
  std::optional<double> touch;      ///< the only touched fraction that changed, if others were compared; or nothing
  std::vector<std::string> cases;   ///< of its points, in the order of the baseline
  std::vector<ReviewRange> ranges;  ///< ascending; empty if sizes say nothing of it
  std::vector<ReviewThreshold> thresholds;  ///< that belong to it
  std::optional<ReviewExample> example;
  std::string title;                 ///< the cause, at most 60 columns: "calloc zeroes fresh memory"
  std::string sentence;              ///< "every calloc from 64 KiB to 100 MiB now zeroes
                                     ///< fresh memory: 1 → 5,121 faults at 20 MiB"
  std::vector<std::size_t> changes;  ///< places in Review::changes; each change belongs to exactly one group
};

struct Review {
  Verdict verdict = Verdict::kSame;
  std::string sentence;             ///< "worse: " and the sentence of the first group; how
                                    ///< many others there are
  std::vector<ReviewGroup> groups;  ///< worse, then better, then neither; the gravest of each first
  std::vector<BaselineChange> changes;
  std::vector<std::string> too_small;  ///< names of differences of less than a tenth of a block, at points without
                                       ///< larger ones: they are no changes
};

/// Reviews changes (of compare_baselines and points_not_measured) between a baseline and a new measurement of all or
/// some of its points. `changes` may be a part of all differences: those that last, say.
Review review_changes(const Baseline& before, const Baseline& after, std::vector<BaselineChange> changes);

// How a review is made: causes, groups, thresholds, words.

/// The cause that a change is attributed to.
struct Blame {
  Cause cause = Cause::kPlacement;
  Direction direction = Direction::kNeither;
  bool first_calls_only = false;
  bool judged = false;  ///< a verdict function of findings found the cause; else the metric alone did

  /// Whether both belong to the same group if threads are ignored.
  [[nodiscard]] bool is_like(const Blame& other) const {
    return cause == other.cause && direction == other.direction && first_calls_only == other.first_calls_only;
  }
};

/// The causes of all changes of points, in their order; thresholds are left out. A change without a cause of its own
/// takes the cause of the same metric at the same size, under another touch or on another thread.
std::vector<Blame> blame_changes(const Baseline& before, const Baseline& after,
                                 const std::vector<BaselineChange>& changes);

/// The cause for a change of one metric alone, and the words after its value, with a slot for the plural. Without words
/// (nullptr), the metric's name for people is used.
struct MetricWords {
  Metric metric;
  Cause cause;
  const char* unit = nullptr;
};
/// The words of one of kSteadyMetrics.
const MetricWords& words_of(Metric metric);

/// The direction of a change by itself: a larger number is worse, and a different word is neither.
Direction direction_of(const BaselineChange& change);

/// A group while it is made.
struct Draft {
  ReviewGroup group;
  bool judged = false;         ///< by a verdict function of findings
  std::optional<Cause> moved;  ///< of a group of a threshold that moved: what the sizes between do otherwise now
};

/// The input of a review.
struct ReviewInput {
  const Baseline& before;
  const Baseline& after;
  const std::vector<BaselineChange>& changes;
  std::vector<PointIdentity> compared = {};  ///< points that both sides have
};

/// The sizes of a case at which both sides have a point of this thread (empty: any), and with this touch (nothing:
/// any).
std::set<std::uint64_t> compared_sizes(const ReviewInput& input, const std::string& case_name,
                                       const std::string& thread, std::optional<double> touch = {});

/// Whether only a few bytes of the block are concerned, before and after: what else a thread does at its start.
bool is_slight(std::uint64_t size_bytes, std::optional<Metric> metric, const MetricValue& before,
               const MetricValue& after);

/// Whether a point's change is too small to report by itself: bytes by the rule of compare, or faults that populate no
/// more than that many bytes. A small change joins a larger change of its point.
bool is_beneath_notice(const BaselineChange& change);

/// The groups of all changes of points, in no order, with the ranges that were measured; thresholds are left out.
std::vector<Draft> draft_groups(const ReviewInput& input);

/// Puts each change of a threshold into a group: that whose sizes it bounds, which it sharpens; or one of its own.
void add_thresholds(const ReviewInput& input, std::vector<Draft>& drafts);

/// Adds example, title and sentence.
void put_in_words(const ReviewInput& input, Draft& draft);

/// The verdict on all groups in one sentence.
std::string sentence_of(const ReviewInput& input, Verdict verdict, const std::vector<ReviewGroup>& groups);

}  // namespace zerotax::baseline
