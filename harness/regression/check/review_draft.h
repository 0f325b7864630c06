#pragma once

#include <optional>
#include <set>
#include <vector>

#include "check/review.h"

namespace zerotax::check {

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

}  // namespace zerotax::check
