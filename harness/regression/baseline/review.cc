#include "baseline/review.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "judge/judgement.h"
#include "judge/points.h"
#include "os/page.h"

namespace zerotax::baseline {
namespace {

bool is_failure(const ReviewGroup& group) { return is_failure(group.cause) && group.direction == Direction::kWorse; }

/// Sorts by direction: worse, better, neither. Within each direction, broken promises come first, then changes in every
/// call, the largest first.
bool comes_before(const ReviewGroup& one, const ReviewGroup& other) {
  const auto rank = [](const ReviewGroup& group) {
    // A moved threshold is as severe as the behavior that the sizes between the old and the new threshold now have.
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

/// Returns whether the metric counts bytes that the allocator itself zeroed.
bool is_zeroing(Metric metric) {
  using enum Metric;
  return metric == kZeroedBytes || metric == kRedundantZeroedBytes || metric == kZeroedInFreeBytes ||
         metric == kRedundantZeroedInFreeBytes;
}

bool is_same_place(const PointIdentity& one, const PointIdentity& other) {
  return one.case_name == other.case_name && one.size_bytes == other.size_bytes;
}

bool is_slight_change(const BaselineChange& change) {
  return is_slight(change.point->size_bytes, change.metric, change.before, change.after);
}

/// Splits the changes of one cause by thread. The key is the thread if only this thread shows the change at a size at
/// which both threads were compared. Otherwise the key is "".
std::map<std::string, std::vector<std::size_t>> by_thread(const ReviewInput& input,
                                                          const std::vector<std::size_t>& changes) {
  std::map<std::string, std::vector<std::size_t>> parts;
  for (const std::size_t i : changes) {
    const PointIdentity& point = *input.changes[i].point;
    const auto is_on = [&](const PointIdentity& each, bool own) {
      return is_same_place(each, point) && (each.thread == point.thread) == own;
    };
    const auto is_compared = [&](bool own) {
      return std::any_of(input.compared.begin(), input.compared.end(),
                         [&](const PointIdentity& each) { return is_on(each, own); });
    };
    const bool alone =
        is_compared(true) && is_compared(false) && std::none_of(changes.begin(), changes.end(), [&](std::size_t other) {
          return is_on(*input.changes[other].point, false) &&
                 (is_slight_change(input.changes[i]) || !is_slight_change(input.changes[other]));
        });
    parts[alone ? point.thread : ""].push_back(i);
  }
  return parts;
}

/// Returns the touched fraction of a group if no other fraction shows the group, although other fractions were compared
/// at the same sizes. Otherwise returns nothing.
std::optional<double> only_touch(const ReviewInput& input, const std::vector<std::size_t>& changes) {
  const double touch = input.changes[changes.front()].point->touch;
  bool others = false;
  for (const std::size_t i : changes) {
    const PointIdentity& point = *input.changes[i].point;
    if (point.touch != touch) return std::nullopt;
    others |= std::any_of(input.compared.begin(), input.compared.end(), [&](const PointIdentity& each) {
      return is_same_place(each, point) && each.thread == point.thread && each.touch != touch;
    });
  }
  return others ? std::optional(touch) : std::nullopt;
}

std::vector<std::string> cases_of(const ReviewInput& input, const std::vector<std::size_t>& changes) {
  std::vector<std::string> cases;
  for (const std::size_t i : changes) {
    const std::string& name = input.changes[i].point->case_name;
    if (std::find(cases.begin(), cases.end(), name) == cases.end()) cases.push_back(name);
  }
  // The main case comes first, because the ranges of sizes belong to the first case.
  std::stable_sort(cases.begin(), cases.end(),
                   [](const auto& one, const auto& other) { return one == "calloc_loop" && other != "calloc_loop"; });
  return cases;
}

std::vector<ReviewRange> measured_ranges(const ReviewInput& input, const ReviewGroup& group) {
  std::map<std::uint64_t, YesNo> sizes;
  for (const std::uint64_t size : compared_sizes(input, group.cases.front(), group.thread)) sizes[size] = YesNo::kNo;
  for (const std::size_t i : group.changes) {
    const PointIdentity& point = *input.changes[i].point;
    if (point.case_name == group.cases.front()) sizes[point.size_bytes] = YesNo::kYes;
  }
  std::vector<ReviewRange> ranges;
  for (const SizeSpan& span : ranges_of(sizes).spans) {
    ranges.push_back({span.from, span.to, false, false});
  }
  return ranges;
}

/// Adds each small change to the group of a larger change at the same point.
void add_small_changes(const ReviewInput& input, std::vector<Draft>& drafts) {
  for (std::size_t i = 0; i < input.changes.size(); ++i) {
    if (!is_beneath_notice(input.changes[i])) continue;
    const auto found = std::find_if(drafts.begin(), drafts.end(), [&](const Draft& draft) {
      const std::vector<std::size_t>& changes = draft.group.changes;
      return std::any_of(changes.begin(), changes.end(),
                         [&](std::size_t each) { return input.changes[each].point == input.changes[i].point; });
    });
    if (found != drafts.end()) found->group.changes.push_back(i);
  }
}

}  // namespace

bool is_failure(Cause cause) { return cause <= Cause::kMisaligned; }

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

std::set<std::uint64_t> compared_sizes(const ReviewInput& input, const std::string& case_name,
                                       const std::string& thread, std::optional<double> touch) {
  std::set<std::uint64_t> sizes;
  for (const PointIdentity& point : input.compared) {
    const bool wanted = point.case_name == case_name && (thread.empty() || point.thread == thread);
    if (wanted && (!touch || point.touch == *touch)) sizes.insert(point.size_bytes);
  }
  return sizes;
}

bool is_slight(std::uint64_t size_bytes, std::optional<Metric> metric, const MetricValue& before,
               const MetricValue& after) {
  if (!metric || !std::string_view(row_of(*metric).key).ends_with("_bytes")) return false;
  const auto first = before.count();
  const auto last = after.count();
  return first && last && is_little(std::max(*first, *last), size_bytes);
}

bool is_beneath_notice(const BaselineChange& change) {
  if (!change.metric || !change.point) return false;
  const auto before = change.before.count();
  const auto after = change.after.count();
  if (!before || !after) return false;
  const std::uint64_t size = change.point->size_bytes;
  const std::uint64_t difference = std::max(*before, *after) - std::min(*before, *after);
  if (is_zeroing(*change.metric)) return !is_change_of_zeroing(difference, size);
  if (row_of(*change.metric).kind == MetricKind::kBytes) return !is_change_of_block(difference, size);
  // In a block of at least a huge page, a fault may populate a huge page.
  const std::uint64_t page = size < huge_page_bytes() ? page_bytes() : huge_page_bytes();
  return is_fault_metric(*change.metric) && difference <= kFaultSlack && !is_change_of_block(difference * page, size);
}

std::vector<Draft> draft_groups(const ReviewInput& input) {
  const std::vector<Blame> blames = blame_changes(input.before, input.after, input.changes);
  std::vector<std::pair<Blame, std::vector<std::size_t>>> causes;
  for (std::size_t i = 0; i < blames.size(); ++i) {
    if (!input.changes[i].point || is_beneath_notice(input.changes[i])) continue;
    auto found =
        std::find_if(causes.begin(), causes.end(), [&](const auto& cause) { return cause.first.is_like(blames[i]); });
    if (found == causes.end()) found = causes.insert(causes.end(), {blames[i], {}});
    found->first.judged |= blames[i].judged;
    found->second.push_back(i);
  }
  std::vector<Draft> drafts;
  for (const auto& [blame, changes] : causes) {
    for (const auto& [thread, part] : by_thread(input, changes)) {
      Draft& draft = drafts.emplace_back();
      draft.judged = blame.judged;
      ReviewGroup& group = draft.group;
      group.cause = blame.cause;
      group.direction = blame.direction;
      group.first_calls_only = blame.first_calls_only;
      group.thread = thread;
      group.touch = only_touch(input, part);
      group.changes = part;
      group.cases = cases_of(input, part);
      group.ranges = measured_ranges(input, group);
    }
  }
  add_small_changes(input, drafts);
  return drafts;
}

}  // namespace zerotax::baseline
