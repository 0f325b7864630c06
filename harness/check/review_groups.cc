#include <algorithm>
#include <map>

#include "check/review_draft.h"
#include "findings/judgement.h"
#include "findings/points.h"

namespace zerotax::check {
namespace {

using findings::Answer;

/// A case and a size of it.
using CaseSize = std::pair<std::string, std::uint64_t>;

CaseSize place_of(const BaselineChange& change) { return {change.point->case_name, change.point->size_bytes}; }

std::set<std::string> compared_threads(const ReviewInput& input, const CaseSize& place) {
  std::set<std::string> threads;
  for (const Point& point : input.before.points) {
    if (point.case_name != place.first || point.size_bytes != place.second) continue;
    if (point_of(input.after, identity_of(point)) != nullptr) threads.insert(point.thread);
  }
  return threads;
}

/// The one thread on which something changed at a size, if it was compared on others too; else "".
std::string only_thread(const ReviewInput& input, const CaseSize& place, const std::set<std::string>& changed) {
  const std::set<std::string> compared = compared_threads(input, place);
  return changed.size() == 1 && compared.size() > 1 ? *changed.begin() : "";
}

/// The changes of one cause, by the thread that alone shows them, or "".
std::map<std::string, std::vector<std::size_t>> by_thread(const ReviewInput& input,
                                                          const std::vector<std::size_t>& changes) {
  std::map<CaseSize, std::set<std::string>> threads;
  for (const std::size_t i : changes) threads[place_of(input.changes[i])].insert(input.changes[i].point->thread);
  std::map<std::string, std::vector<std::size_t>> parts;
  for (const std::size_t i : changes) {
    const CaseSize place = place_of(input.changes[i]);
    parts[only_thread(input, place, threads[place])].push_back(i);
  }
  return parts;
}

/// The only touched fraction that shows a group, if others were compared at the same places.
std::optional<double> only_touch(const ReviewInput& input, const std::vector<std::size_t>& changes) {
  std::set<double> touches;
  std::set<std::tuple<std::string, std::uint64_t, std::string>> places;
  for (const std::size_t i : changes) {
    const PointIdentity& point = *input.changes[i].point;
    touches.insert(point.touch);
    places.insert({point.case_name, point.size_bytes, point.thread});
  }
  if (touches.size() != 1) return std::nullopt;
  const bool others = std::any_of(input.before.points.begin(), input.before.points.end(), [&](const Point& point) {
    return point.touch != *touches.begin() && places.contains({point.case_name, point.size_bytes, point.thread}) &&
           point_of(input.after, identity_of(point)) != nullptr;
  });
  return others ? std::optional(*touches.begin()) : std::nullopt;
}

std::vector<std::string> cases_of(const ReviewInput& input, const std::vector<std::size_t>& changes) {
  std::vector<std::string> cases;
  for (const std::size_t i : changes) {
    const std::string& name = input.changes[i].point->case_name;
    if (std::find(cases.begin(), cases.end(), name) == cases.end()) cases.push_back(name);
  }
  // The one whose sizes are ranges comes first.
  std::stable_sort(cases.begin(), cases.end(),
                   [](const auto& one, const auto& other) { return one == "calloc_loop" && other != "calloc_loop"; });
  return cases;
}

std::vector<ReviewRange> measured_ranges(const ReviewInput& input, const ReviewGroup& group) {
  std::map<std::uint64_t, Answer> sizes;
  for (const std::uint64_t size : compared_sizes(input, group.cases.front(), group.thread)) sizes[size] = Answer::kNo;
  for (const std::size_t i : group.changes) {
    const PointIdentity& point = *input.changes[i].point;
    if (point.case_name == group.cases.front()) sizes[point.size_bytes] = Answer::kYes;
  }
  std::vector<ReviewRange> ranges;
  for (const findings::SizeSpan& span : findings::ranges_of(sizes).spans) {
    ranges.push_back({span.from, span.to, false, false});
  }
  return ranges;
}

}  // namespace

std::set<std::uint64_t> compared_sizes(const ReviewInput& input, const std::string& case_name,
                                       const std::string& thread, std::optional<double> touch) {
  std::set<std::uint64_t> sizes;
  for (const Point& point : input.before.points) {
    if (point.case_name != case_name || (!thread.empty() && point.thread != thread)) continue;
    if (touch && point.touch != *touch) continue;
    if (point_of(input.after, identity_of(point)) != nullptr) sizes.insert(point.size_bytes);
  }
  return sizes;
}

std::vector<Draft> draft_groups(const ReviewInput& input) {
  const std::vector<Blame> blames = blame_changes(input.before, input.after, input.changes);
  std::vector<std::pair<Blame, std::vector<std::size_t>>> causes;
  for (std::size_t i = 0; i < blames.size(); ++i) {
    if (!input.changes[i].point) continue;
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
  return drafts;
}

}  // namespace zerotax::check
