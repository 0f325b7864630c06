#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "snapshot/runs.h"

namespace zerotax::snapshot {
namespace {

using Metric = std::int64_t RunMetrics::*;

/// Returns quantiles, over at least one run, of the time from `earlier` to `later`. If `earlier` is null, returns
/// quantiles of the value `later`.
Quantiles of_time(const std::vector<SnapshotRun>& runs, Metric earlier, Metric later) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const SnapshotRun& run : runs) {
    values.push_back(static_cast<double>(run.metrics.*later - (earlier == nullptr ? 0 : run.metrics.*earlier)));
  }
  return {spread(values)};
}

Quantiles of_metric(const std::vector<SnapshotRun>& runs, Metric metric) { return of_time(runs, nullptr, metric); }

Measured<Memory> memory_of(const SnapshotRun& run) {
  // Without Pss_Anon (since Linux 5.4), only shared memory would be counted.
  const RunMetrics& of = run.metrics;
  if (of.first_bytes == 0) return NotAvailable{"the kernel does not report anonymous PSS (needs Linux 5.4 or later)"};
  return Memory{of.first_bytes, of.peak_bytes, of.memory_samples};
}

/// Returns the part of a run's result that `make` extracts. If the run failed, returns n/a with a description of its
/// end.
template <typename T>
Measured<T> part_of(const SnapshotRun& run, Measured<T> (*make)(const SnapshotRun&)) {
  if (run.ok()) return make(run);
  return NotAvailable{run.status == Status::kNotWatched ? run.reason
                                                        : fmt::format("{}: {}", word(run.status), run.reason)};
}

/// CPU time and faults of held runs: of the writers after they resumed, and of the helper.
Measured<AfterEnd> after_end_of(const std::vector<SnapshotRun>& runs) {
  if (runs.empty()) return NotAvailable{kNotRun};
  AfterEnd after{runs.size(), of_metric(runs, &RunMetrics::resumed_user_ns),
                 of_metric(runs, &RunMetrics::resumed_system_ns), of_metric(runs, &RunMetrics::resumed_faults),
                 NotAvailable{"it has no helper thread"}};
  if (runs.front().metrics.helper_tid == 0) return after;
  after.helper =
      HelperFigures{of_time(runs, &RunMetrics::helper_begin_ns, &RunMetrics::helper_end_ns),
                    of_metric(runs, &RunMetrics::helper_user_ns), of_metric(runs, &RunMetrics::helper_system_ns),
                    of_metric(runs, &RunMetrics::helper_faults), of_metric(runs, &RunMetrics::helper_failed_bytes)};
  return after;
}

/// The child's CPU time in the timing runs, and the batches that it unmapped in the last of these runs.
Child child_of(const std::vector<SnapshotRun>& runs, const SnapshotParameters& parameters) {
  Child child{of_metric(runs, &RunMetrics::child_user_ns), of_metric(runs, &RunMetrics::child_system_ns),
              (parameters.array_bytes + parameters.batch_bytes - 1) / parameters.batch_bytes,
              NotAvailable{"it unmaps nothing"}, std::nullopt};
  const RunMetrics& last = runs.back().metrics;
  if (last.unmapped_batches != 0 || last.unmap_error != 0) {
    child.unmapped_batches = static_cast<std::uint64_t>(last.unmapped_batches);
  }
  if (last.unmap_error != 0) child.unmap_error = std::strerror(static_cast<int>(last.unmap_error));
  return child;
}

/// The share of pages on each node; n/a without a placement.
Measured<Placed> placed_of(const RunMetrics& of) {
  if (of.array_pages_seen == kNotCounted) return NotAvailable{"no placement was asked for"};
  const auto shares = [](std::int64_t seen, std::int64_t first, std::int64_t second) -> Measured<NodeShares> {
    if (seen <= 0) return NotAvailable{"the parent has none of its pages"};
    const auto all = static_cast<double>(seen);
    return NodeShares{static_cast<double>(first) / all, static_cast<double>(second) / all};
  };
  return Placed{shares(of.array_pages_seen, of.array_on_first, of.array_on_second),
                shares(of.destination_pages_seen, of.destination_on_first, of.destination_on_second)};
}

template <typename T>
Measured<T> measured_if(bool there, const char* why_not, Measured<T> value) {
  return there ? value : Measured<T>(NotAvailable{why_not});
}

}  // namespace

Figures no_figures(const std::string& why) {
  const NotAvailable na{why};
  return {na, na, na, na, na, na, na, na, na, na, na, na, na, na, na, na, na, na, na};
}

Snapshot read_snapshot(Json json) {
  // Earlier versions did not write a verdict. Empty lists replace it until add_verdict is called.
  for (const char* list : {"advice", "notes"}) json.emplace(list, Json::array());
  return json.get<Snapshot>();
}

std::string Snapshot::remedied_by(const Result& result) const {
  for (const AlternativeFacts& each : alternatives) {
    if (each.name == result.alternative) return each.remedy_of.value_or("");
  }
  return "";
}

const Result* Snapshot::find(const std::string& allocator, const std::string& alternative) const {
  const auto found = std::find_if(results.begin(), results.end(), [&](const Result& each) {
    return each.allocator == allocator && each.alternative == alternative;
  });
  return found == results.end() ? nullptr : &*found;
}

std::vector<std::string> Snapshot::allocators() const {
  std::vector<std::string> names;
  for (const Result& result : results) {
    if (std::find(names.begin(), names.end(), result.allocator) == names.end()) names.push_back(result.allocator);
  }
  return names;
}

SnapshotRuns::SnapshotRuns(const SnapshotPlan& plan)
    : plan_(plan), taken_(plan.allocators.size() * plan.alternatives.size()) {
  for (Taken& each : taken_) each.figures = no_figures(kNotRun);
}

bool SnapshotRuns::take(const SnapshotStep& step, const SnapshotRun& run) {
  Taken& taken = taken_[step.allocator * plan_.alternatives.size() + step.alternative];
  // Watching slows a program down, so a timeout of a watched run shows nothing about the alternative.
  const bool watched = step.pass != SnapshotPass::kTiming || step.held;
  if (!watched || (run.status != Status::kTimeout && run.status != Status::kNotWatched)) {
    taken.status = run.status;
    taken.reason = run.reason;
  }
  switch (step.pass) {
    case SnapshotPass::kTiming:
      if (run.ok()) (step.held ? taken.held_timing : taken.timing).push_back(run);
      break;
    case SnapshotPass::kCpuTime:
      taken.figures.cpu_time = part_of(run, cpu_time_of);
      break;
    case SnapshotPass::kMemory:
      taken.figures.memory = part_of(run, memory_of);
      break;
    case SnapshotPass::kFaults:
      (step.held ? taken.figures.faults_held : taken.figures.faults) = part_of(run, faults_of);
      break;
    case SnapshotPass::kProfile:
      (step.held ? taken.figures.cpu_held : taken.figures.cpu) = part_of(run, cpu_of);
      break;
  }
  taken.has_child = taken.has_child || run.metrics.child != 0;
  // A snapshot that only the child can see is checked only in runs without timing, so the largest count of all runs is
  // kept.
  taken.checked_elements = std::max(taken.checked_elements, run.metrics.checked_elements);
  taken.takes_snapshot = taken.takes_snapshot || run.metrics.takes_snapshot != 0 || run.metrics.checked_elements > 0;
  return taken.status == Status::kOk;
}

Measured<double> SnapshotRuns::slowdown(std::size_t allocator, std::size_t alternative) const {
  const std::string& baseline = plan_.alternatives[alternative].baseline;
  const auto median = [](const Taken& taken) {
    return of_time(taken.timing, &RunMetrics::begin_ns, &RunMetrics::end_ns).median;
  };
  for (std::size_t i = 0; i < plan_.alternatives.size(); ++i) {
    const Taken& none = at(allocator, i);
    if (plan_.alternatives[i].name != baseline || none.status != Status::kOk) continue;
    return median(at(allocator, alternative)) / median(none);
  }
  return NotAvailable{fmt::format("the alternative {} was not measured", baseline)};
}

Figures SnapshotRuns::figures(std::size_t allocator, std::size_t alternative) const {
  const Taken& taken = at(allocator, alternative);
  const std::vector<SnapshotRun>& timing = taken.timing;
  const bool child = taken.has_child;
  constexpr const char* kNoChild = "it has no child to wait for";
  constexpr const char* kNoSnapshot = "it takes no snapshot";
  Figures figures = taken.figures;
  figures.has_child = child;
  figures.writers_wall_ns = of_time(timing, &RunMetrics::begin_ns, &RunMetrics::end_ns);
  figures.slowdown = slowdown(allocator, alternative);
  figures.writers_user_ns = of_metric(timing, &RunMetrics::writers_user_ns);
  figures.writers_system_ns = of_metric(timing, &RunMetrics::writers_system_ns);
  figures.stopped_ns = of_time(timing, &RunMetrics::stopped_ns, &RunMetrics::released_ns);
  figures.snapshot_ns = measured_if<Quantiles>(taken.takes_snapshot, kNoSnapshot,
                                               of_time(timing, &RunMetrics::stopped_ns, &RunMetrics::complete_ns));
  figures.checked_elements = measured_if<std::int64_t>(
      taken.checked_elements != 0, taken.takes_snapshot ? "the run that checks the snapshot was not made" : kNoSnapshot,
      taken.checked_elements);
  figures.child = measured_if<Child>(child, "it has no child",
                                     child_of(timing, plan_.parameters_of(plan_.alternatives[alternative])));
  figures.after_end = measured_if<AfterEnd>(child, kNoChild, after_end_of(taken.held_timing));
  figures.faults_held = measured_if(child, kNoChild, taken.figures.faults_held);
  figures.cpu_held = measured_if(child, kNoChild, taken.figures.cpu_held);
  figures.child_end_ns =
      measured_if<Quantiles>(child, "it has no child", of_time(timing, &RunMetrics::stopped_ns, &RunMetrics::gone_ns));
  const auto first = std::count_if(timing.begin(), timing.end(),
                                   [](const SnapshotRun& run) { return run.metrics.complete_ns < run.metrics.end_ns; });
  figures.copy_done_first_runs =
      measured_if<std::uint64_t>(taken.takes_snapshot, kNoSnapshot, static_cast<std::uint64_t>(first));
  figures.placed = placed_of(timing.back().metrics);
  return figures;
}

Result SnapshotRuns::result_of(std::size_t allocator, std::size_t alternative) const {
  const Taken& taken = at(allocator, alternative);
  const Allocator& under = plan_.allocators[allocator];
  const SnapshotAlternative& way = plan_.alternatives[alternative];
  Result result;
  result.version = version_json(under).get<Measured<std::string>>();
  if (under.preload) result.preload = *under.preload;
  result.env = under.env;
  result.allocator = under.name;
  result.alternative = way.name;
  result.status = taken.status.value_or(Status::kSkipped);
  const std::string reason = taken.status ? taken.reason : kNotRun;
  if (!reason.empty()) result.reason = reason;
  result.parameters = plan_.parameters_of(way);
  result.baseline = way.baseline;
  result.runs = taken.timing.size();
  if (result.ok()) {
    static_cast<Figures&>(result) = figures(allocator, alternative);
  } else {
    static_cast<Figures&>(result) = no_figures(fmt::format("{}: {}", word(result.status), reason));
  }
  return result;
}

Snapshot SnapshotRuns::result(bool complete) const {
  Snapshot snapshot;
  snapshot.schema = "zerotax.snapshot/1";
  snapshot.zerotax_version = ZEROTAX_VERSION;
  snapshot.state = completion(complete);
  snapshot.parameters = {plan_.parameters, plan_.repeat};
  for (const SnapshotAlternative& each : plan_.alternatives) {
    snapshot.alternatives.push_back(
        {each.name, each.summary, each.remedy_of.empty() ? OrNull<std::string>() : OrNull<std::string>(each.remedy_of),
         each.published});
  }
  for (std::size_t i = 0; i < plan_.allocators.size(); ++i) {
    for (std::size_t j = 0; j < plan_.alternatives.size(); ++j) snapshot.results.push_back(result_of(i, j));
  }
  return snapshot;
}

}  // namespace zerotax::snapshot
