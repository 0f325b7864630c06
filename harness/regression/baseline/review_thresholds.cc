#include <algorithm>

#include "baseline/review.h"
#include "judge/signature.h"

namespace zerotax::baseline {
namespace {

constexpr const char* kSearched = "calloc_loop";  ///< the case of the threshold search, which runs on the main thread
                                                  ///< with nothing touched

/// A change of a threshold, before it joins a group.
struct MovedOrNew {
  std::size_t change;  ///< index of the change
  std::uint64_t at;
  std::optional<std::uint64_t> from;  ///< former size of the same threshold, if it moved
  bool taken = false;
};

const ThresholdChange& change_of(const ReviewInput& input, const MovedOrNew& each) {
  return input.changes[each.change].threshold;
}

std::vector<MovedOrNew> thresholds_of(const ReviewInput& input) {
  std::vector<MovedOrNew> found;
  for (std::size_t i = 0; i < input.changes.size(); ++i) {
    if (input.changes[i].kind == ChangeKind::kThreshold) found.push_back({i, input.changes[i].at_bytes, {}});
  }
  std::sort(found.begin(), found.end(), [](const auto& one, const auto& other) { return one.at < other.at; });
  return found;
}

/// Pairs the old and the new size of each threshold that moved: one threshold that is gone, and a new one with the same
/// meaning.
std::vector<std::pair<MovedOrNew*, MovedOrNew*>> moves(const ReviewInput& input, std::vector<MovedOrNew>& thresholds) {
  std::vector<std::pair<MovedOrNew*, MovedOrNew*>> found;
  for (MovedOrNew& gone : thresholds) {
    if (!change_of(input, gone).is_gone()) continue;
    for (MovedOrNew& now : thresholds) {
      if (now.from || !change_of(input, now).is_new()) continue;
      if (change_of(input, now).after != change_of(input, gone).before) continue;
      now.from = gone.at;
      found.emplace_back(&gone, &now);
      break;
    }
  }
  return found;
}

ReviewThreshold threshold_of(const ReviewInput& input, const MovedOrNew& each) {
  ReviewThreshold threshold;
  if (!change_of(input, each).is_new()) threshold.before_bytes = each.at;
  if (!change_of(input, each).is_gone()) threshold.after_bytes = each.at;
  return threshold;
}

void take(const ReviewInput& input, MovedOrNew& threshold, ReviewGroup& group) {
  threshold.taken = true;
  group.changes.push_back(threshold.change);
  group.thresholds.push_back(threshold_of(input, threshold));
}

/// Returns whether the threshold search covers a group: some of its changes have the case, thread and touch of the
/// search.
bool is_searched(const ReviewInput& input, const ReviewGroup& group) {
  return std::any_of(group.changes.begin(), group.changes.end(), [&](std::size_t i) {
    const auto& point = input.changes[i].point;
    return point && point->case_name == kSearched && point->thread == "main" && point->touch == 0;
  });
}

/// Merges the groups that changed only because a threshold moved. All sizes of such a group lie between the old and the
/// new threshold.
void take_moved(const ReviewInput& input, std::vector<MovedOrNew>& thresholds, std::vector<Draft>& drafts) {
  for (const auto& [gone, now] : moves(input, thresholds)) {
    const std::uint64_t from = std::min(gone->at, now->at);
    const std::uint64_t to = std::max(gone->at, now->at);
    bool searched = false;
    std::vector<Draft*> inside;
    for (Draft& draft : drafts) {
      const auto& group = draft.group;
      const bool all = !group.ranges.empty() && group.cases.front() == kSearched && group.cause != Cause::kThreshold &&
                       group.ranges.front().from_bytes >= from && group.ranges.back().to_bytes < to;
      if (all) inside.push_back(&draft);
      if (all) searched |= is_searched(input, group);
    }
    if (!searched) continue;
    for (const Direction direction : {Direction::kWorse, Direction::kBetter, Direction::kNeither}) {
      Draft* first = nullptr;
      for (Draft* draft : inside) {
        ReviewGroup& group = draft->group;
        if (group.changes.empty() || group.direction != direction) continue;
        if (first == nullptr) {
          first = draft;
          continue;
        }
        if (group.cause < first->group.cause) std::swap(*first, *draft);
        ReviewGroup& whole = first->group;
        whole.changes.insert(whole.changes.end(), group.changes.begin(), group.changes.end());
        group.changes.clear();
        if (whole.thread != group.thread) whole.thread.clear();
        if (whole.touch != group.touch) whole.touch.reset();
      }
      if (first == nullptr) continue;
      first->moved = first->group.cause;
      first->group.cause = Cause::kThreshold;
      first->group.ranges = {{from, to - 1, true, true}};
      if (!gone->taken) {
        gone->taken = now->taken = true;
        first->group.changes.push_back(gone->change);
        first->group.changes.push_back(now->change);
      }
      first->group.thresholds = {{gone->at, now->at}};
    }
    std::erase_if(drafts, [](const Draft& draft) { return draft.group.changes.empty(); });
  }
}

/// Makes the bounds of a group's ranges exact, and adds the thresholds at those bounds. `sizes` are all compared sizes.
void sharpen(const ReviewInput& input, const std::set<std::uint64_t>& sizes, std::vector<MovedOrNew>& thresholds,
             ReviewGroup& group) {
  for (ReviewRange& range : group.ranges) {
    const auto from = sizes.find(range.from_bytes);
    const auto to = sizes.find(range.to_bytes);
    if (from == sizes.end() || to == sizes.end()) continue;
    const std::uint64_t below = from == sizes.begin() ? 0 : *std::prev(from);
    const std::uint64_t above = std::next(to) == sizes.end() ? UINT64_MAX : *std::next(to);
    const ReviewRange measured = range;
    for (MovedOrNew& threshold : thresholds) {
      if (threshold.at <= below || threshold.at > above) continue;
      // The lowest threshold becomes the lower bound, and the highest threshold becomes the upper bound.
      if (threshold.at <= measured.from_bytes && !range.from_exact) {
        range.from_bytes = threshold.at;
        range.from_exact = true;
      }
      if (threshold.at > measured.to_bytes) {
        range.to_bytes = threshold.at - 1;
        range.to_exact = true;
      }
      if (!threshold.taken) take(input, threshold, group);
    }
  }
}

void take_bounds(const ReviewInput& input, std::vector<MovedOrNew>& thresholds, std::vector<Draft>& drafts) {
  std::vector<ReviewGroup*> groups;
  for (Draft& draft : drafts) {
    const ReviewGroup& group = draft.group;
    if (group.cause != Cause::kThreshold && is_searched(input, group)) groups.push_back(&draft.group);
  }
  // A threshold joins the most severe group that it bounds. Groups of the first calls come last.
  std::stable_sort(groups.begin(), groups.end(), [](const ReviewGroup* one, const ReviewGroup* other) {
    return std::pair(one->first_calls_only, one->cause) < std::pair(other->first_calls_only, other->cause);
  });
  for (ReviewGroup* group : groups) {
    sharpen(input, compared_sizes(input, kSearched, group->thread), thresholds, *group);
  }
}

/// Returns the direction of all threshold changes in a gap between two sizes that behave as before. The lowest
/// threshold decides, because the behavior below it is unchanged.
Direction direction_of_gap(const ThresholdChange& lowest) {
  if (lowest.is_new()) return direction_of(*lowest.after);
  return lowest.is_gone() ? opposite_of(direction_of(*lowest.before)) : Direction::kNeither;
}

/// For the thresholds that no point shows, makes one group for each gap between two measured sizes.
void group_the_rest(const ReviewInput& input, std::vector<MovedOrNew>& thresholds, std::vector<Draft>& drafts) {
  const std::set<std::uint64_t> sizes = compared_sizes(input, kSearched, "main", 0.0);
  std::optional<std::uint64_t> gap;
  bool open = false;
  for (MovedOrNew& threshold : thresholds) {
    if (threshold.taken) {
      open = false;
      continue;
    }
    const auto next = sizes.lower_bound(threshold.at);
    const std::uint64_t here = next == sizes.end() ? UINT64_MAX : *next;
    const ThresholdChange& change = change_of(input, threshold);
    if (!open || gap != here) {
      Draft& draft = drafts.emplace_back();
      draft.group.cause = Cause::kThreshold;
      draft.group.direction = direction_of_gap(change);
    }
    open = true;
    gap = here;
    ReviewGroup& group = drafts.back().group;
    if (change.after && any_fails(*change.after)) {
      group.cause = Cause::kFails;
      group.direction = Direction::kWorse;
    }
    take(input, threshold, group);
  }
  for (Draft& draft : drafts) {
    auto& list = draft.group.thresholds;
    if (!draft.group.cases.empty() || list.size() < 2) continue;
    draft.group.ranges = {{list.front().at_bytes(), list.back().at_bytes() - 1, true, true}};
    // A threshold that is gone and a new one with the same meaning are one move.
    const bool moved = list.size() == 2 && list[0].before_bytes.has_value() != list[1].before_bytes.has_value() &&
                       list[0].after_bytes.has_value() != list[1].after_bytes.has_value();
    if (!moved) continue;
    if (!list[0].before_bytes) std::swap(list[0], list[1]);
    list = {{list[0].before_bytes, list[1].after_bytes}};
  }
}

}  // namespace

void add_thresholds(const ReviewInput& input, std::vector<Draft>& drafts) {
  std::vector<MovedOrNew> thresholds = thresholds_of(input);
  take_moved(input, thresholds, drafts);
  take_bounds(input, thresholds, drafts);
  group_the_rest(input, thresholds, drafts);
}

}  // namespace zerotax::baseline
