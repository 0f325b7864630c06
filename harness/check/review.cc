#include "check/review.h"

#include <algorithm>
#include <tuple>

#include "check/review_draft.h"

namespace zerotax::check {
namespace {

bool is_failure(const ReviewGroup& group) { return is_failure(group.cause) && group.direction == Direction::kWorse; }

/// Worse before better before neither; what breaks a promise, then what happens in every call, the largest first.
bool comes_before(const ReviewGroup& one, const ReviewGroup& other) {
  const auto rank = [](const ReviewGroup& group) {
    // A threshold that moved sizes to other behaviour is as grave as that.
    const int cause = group.cause == Cause::kThreshold && !group.cases.empty()
                          ? static_cast<int>(Cause::kZeroesFresh) * 2 - 1
                          : static_cast<int>(group.cause) * 2;
    const auto& example = group.example;
    const bool slight =
        example && is_slight(example->point.size_bytes, example->metric, example->before, example->after);
    return std::tuple(group.direction, cause, group.first_calls_only, slight);
  };
  if (rank(one) != rank(other)) return rank(one) < rank(other);
  return one.changes.size() > other.changes.size();
}

}  // namespace

const char* word_of(Cause cause) {
  constexpr const char* kWords[] = {
      "fails",          "not_zero",  "misaligned",   "zeroes_fresh", "zeroes_reused", "zeroes_beyond", "zeroes_in_free",
      "returns_memory", "threshold", "zeroed_bytes", "faults",       "system_calls",  "placement",     "not_measured"};
  return kWords[static_cast<std::size_t>(cause)];
}

bool is_failure(Cause cause) { return cause <= Cause::kMisaligned; }

namespace {

/// Removes small changes of points that have no larger change. Returns the names of the removed changes.
std::vector<std::string> take_out_small(std::vector<BaselineChange>& changes) {
  std::vector<PointIdentity> changed;
  for (const BaselineChange& change : changes) {
    if (change.point && !is_beneath_notice(change)) changed.push_back(*change.point);
  }
  std::vector<std::string> names;
  std::erase_if(changes, [&](const BaselineChange& change) {
    const bool alone =
        is_beneath_notice(change) && std::find(changed.begin(), changed.end(), *change.point) == changed.end();
    if (alone) names.push_back(change.name);
    return alone;
  });
  return names;
}

}  // namespace

Review review_changes(const Baseline& before, const Baseline& after, std::vector<BaselineChange> changes) {
  Review review;
  review.too_small = take_out_small(changes);
  review.changes = std::move(changes);
  ReviewInput input{before, after, review.changes};
  for (const Point& point : before.points) {
    if (point_of(after, identity_of(point)) != nullptr) input.compared.push_back(identity_of(point));
  }
  std::vector<Draft> drafts = draft_groups(input);
  add_thresholds(input, drafts);
  for (Draft& draft : drafts) {
    std::sort(draft.group.changes.begin(), draft.group.changes.end());
    put_in_words(input, draft);
    review.groups.push_back(std::move(draft.group));
  }
  std::stable_sort(review.groups.begin(), review.groups.end(), comes_before);
  review.verdict = verdict_of(review.groups, std::any_of(review.groups.begin(), review.groups.end(),
                                                         [](const ReviewGroup& group) { return is_failure(group); }));
  review.sentence = sentence_of(input, review.verdict, review.groups);
  return review;
}

}  // namespace zerotax::check
