#include "check/measure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/size.h"
#include "base/units.h"
#include "check/baseline.h"
#include "check/plan.h"
#include "check/work.h"
#include "core/progress.h"

namespace zerotax::check {

Baseline measure_baseline(const Allocator& allocator, double timeout_s, const BaselinePart& part,
                          const PointTime& time) {
  Work work;
  work.plan = baseline_plan(allocator, timeout_s);
  std::erase_if(work.plan.points, [&](const PointSpec& spec) {
    const PointIdentity identity{spec.case_name, spec.size_bytes, spec.touch, spec.thread};
    return std::find(part.points.begin(), part.points.end(), identity) == part.points.end();
  });
  work.time = time;
  work.faults = part.faults;
  const BaselineRange range = baseline_range();
  if (part.thresholds) work.grid = size_grid(range.from, range.to, range.per_octave);
  work.edges = part.edges;
  Progress progress(allocator.name, work.tasks(), static_cast<double>(work.tasks()));
  WorkWatch watch;
  watch.begins = [&](const std::string& what) { progress.show(what); };
  watch.ends = [&] { progress.advance(1); };
  watch.interrupted = [] { throw UsageError("interrupted: nothing was written", "run it again"); };
  return measure_work(work, watch).baseline;
}

void check_sizes(const std::vector<std::uint64_t>& sizes) {
  std::set<std::uint64_t> planned;
  for (const PointSpec& spec : baseline_plan({}, 1).points) planned.insert(spec.size_bytes);
  std::vector<std::string> words;
  words.reserve(planned.size());
  for (const std::uint64_t size : planned) words.push_back(format_size(size));
  for (const std::uint64_t size : sizes) {
    if (planned.contains(size)) continue;
    throw UsageError(fmt::format("baselines have no points of {}", format_given_size(size)),
                     fmt::format("choose: {}", fmt::join(words, ", ")));
  }
}

NewBaseline measure_new_baseline(const Allocator& allocator, double timeout_s, const std::vector<std::uint64_t>& sizes,
                                 bool thresholds) {
  constexpr PointTime kStopped{ClockMode::kStopped, 0};
  const auto measure = [&](const BaselinePart& part, const PointTime& time) {
    return measure_baseline(allocator, timeout_s, part, time);
  };
  BaselinePart all;
  all.thresholds = thresholds;
  for (const PointSpec& spec : baseline_plan(allocator, timeout_s).points) {
    if (!sizes.empty() && std::find(sizes.begin(), sizes.end(), spec.size_bytes) == sizes.end()) continue;
    all.points.push_back({spec.case_name, spec.size_bytes, spec.touch, spec.thread});
  }
  NewBaseline made;
  made.measured = {measure(all, kStopped), measure(all, kStopped)};
  made.baseline = agreed_baseline(made.measured[0], made.measured[1], "not the same each time it was measured");
  BaselinePart points = whole_of(made.baseline);
  points.thresholds = false;
  made.measured.push_back(measure(points, kPaused));
  made.baseline = agreed_baseline(made.baseline, made.measured.back(), "depends on a clock that cannot be stopped");
  made.baseline.by_the_clock.emplace();
  for (const BaselineChange& change : compare_baselines(made.baseline, measure(points, {ClockMode::kRacing, 0}))) {
    made.baseline.by_the_clock->push_back(change.name);
  }
  return made;
}

}  // namespace zerotax::check
