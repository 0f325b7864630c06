#include "check/review.h"

#include <algorithm>
#include <tuple>

#include "check/review_draft.h"

namespace zerotax::check {
namespace {

bool is_failure(const ReviewGroup& group) {
  const bool failing =
      group.cause == Cause::kFails || group.cause == Cause::kNotZero || group.cause == Cause::kMisaligned;
  return failing && group.direction == Direction::kWorse;
}

ReviewVerdict verdict_of(const std::vector<ReviewGroup>& groups) {
  const auto any = [&](Direction direction) {
    return std::any_of(groups.begin(), groups.end(), [&](const auto& group) { return group.direction == direction; });
  };
  if (groups.empty()) return ReviewVerdict::kSame;
  if (std::any_of(groups.begin(), groups.end(), is_failure)) return ReviewVerdict::kFailed;
  if (any(Direction::kWorse)) return any(Direction::kBetter) ? ReviewVerdict::kMixed : ReviewVerdict::kWorse;
  return any(Direction::kBetter) ? ReviewVerdict::kBetter : ReviewVerdict::kChanged;
}

/// Worse before better before neither; what breaks a promise, then what happens in every call, the largest first.
bool comes_before(const ReviewGroup& one, const ReviewGroup& other) {
  const auto rank = [](const ReviewGroup& group) {
    // A threshold that moved sizes to other behaviour is as grave as that.
    const int cause = group.cause == Cause::kThreshold && !group.cases.empty()
                          ? static_cast<int>(Cause::kZeroesFresh) * 2 - 1
                          : static_cast<int>(group.cause) * 2;
    return std::tuple(group.direction, cause, group.first_calls_only);
  };
  if (rank(one) != rank(other)) return rank(one) < rank(other);
  return one.changes.size() > other.changes.size();
}

}  // namespace

const char* word_of(Cause cause) {
  switch (cause) {
    case Cause::kFails:
      return "fails";
    case Cause::kNotZero:
      return "not_zero";
    case Cause::kMisaligned:
      return "misaligned";
    case Cause::kZeroesFresh:
      return "zeroes_fresh";
    case Cause::kZeroesReused:
      return "zeroes_reused";
    case Cause::kZeroesBeyond:
      return "zeroes_beyond";
    case Cause::kZeroesInFree:
      return "zeroes_in_free";
    case Cause::kReturnsMemory:
      return "returns_memory";
    case Cause::kThreshold:
      return "threshold";
    case Cause::kZeroedBytes:
      return "zeroed_bytes";
    case Cause::kFaults:
      return "faults";
    case Cause::kSystemCalls:
      return "system_calls";
    case Cause::kPlacement:
      return "placement";
    case Cause::kNotMeasured:
      break;
  }
  return "not_measured";
}

const char* word_of(Direction direction) {
  return direction == Direction::kWorse ? "worse" : direction == Direction::kBetter ? "better" : "neither";
}

const char* word_of(ReviewVerdict verdict) {
  switch (verdict) {
    case ReviewVerdict::kSame:
      return "same";
    case ReviewVerdict::kBetter:
      return "better";
    case ReviewVerdict::kWorse:
      return "worse";
    case ReviewVerdict::kMixed:
      return "mixed";
    case ReviewVerdict::kChanged:
      return "changed";
    case ReviewVerdict::kFailed:
      break;
  }
  return "failed";
}

Review review_changes(const Baseline& before, const Baseline& after, std::vector<BaselineChange> changes) {
  Review review;
  review.changes = std::move(changes);
  const ReviewInput input{before, after, review.changes};
  std::vector<Draft> drafts = draft_groups(input);
  add_thresholds(input, drafts);
  for (Draft& draft : drafts) {
    std::sort(draft.group.changes.begin(), draft.group.changes.end());
    put_in_words(input, draft);
    review.groups.push_back(std::move(draft.group));
  }
  std::stable_sort(review.groups.begin(), review.groups.end(), comes_before);
  review.verdict = verdict_of(review.groups);
  review.sentence = sentence_of(input, review.verdict, review.groups);
  return review;
}

Review review_baselines(const Baseline& before, const Baseline& after) {
  std::vector<BaselineChange> changes = compare_baselines(before, after);
  for (BaselineChange& missing : points_not_measured(before, after)) changes.push_back(std::move(missing));
  return review_changes(before, after, std::move(changes));
}

}  // namespace zerotax::check
