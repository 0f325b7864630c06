#include "core/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <vector>

#include "base/size.h"
#include "base/units.h"
#include "core/memory_guard.h"
#include "core/point.h"
#include "core/progress.h"
#include "core/side_by_side.h"
#include "os/memory.h"

namespace zerotax {
namespace {

bool same_group(const PointSpec& one, const PointSpec& other) {
  return one.size_bytes == other.size_bytes && one.case_name == other.case_name;
}

/// A point on its way through its passes.
struct Work {
  const PointSpec* spec;
  Passes passes;
  std::string skipped;               ///< why; empty if it is measured
  std::chrono::nanoseconds used{0};  ///< of its timeout
};

class Runner {
 public:
  Runner(const Plan& plan, const RunHooks& hooks) : plan_(plan), hooks_(hooks) {}

  [[nodiscard]] bool stopped() const { return hooks_.stop && hooks_.stop(); }

  void audit_all(std::vector<Work>& group, Progress& progress) {
    std::mutex progress_lock;
    const std::uint64_t needed = group.empty() ? 0 : memory_needed(*group.front().spec);
    const std::size_t fit = audits_side_by_side(needed);
    const std::size_t workers = hooks_.side_by_side == 0 ? fit : std::min(fit, hooks_.side_by_side);
    run_side_by_side(group.size(), workers, [&](std::size_t i) {
      if (stopped() || !group[i].skipped.empty()) return;
      {
        const std::scoped_lock lock(progress_lock);
        progress.show(describe(*group[i].spec, "audit"));
      }
      group[i].passes.audit = pass(group[i], Pass::kAudit);
    });
  }

  void time(Work& work, Progress& progress) {
    progress.show(describe(*work.spec, "timing"));
    Passes& passes = work.passes;
    if (passes.audit.status() == PassResult::Status::kTimeout) return;
    passes.timing = pass(work, Pass::kTiming);
    if (!stopped() && passes.audit.samples().forks != 0) passes.faults = pass(work, Pass::kFaults);
    if (stopped() || !needs_zeroing_pass(passes.audit)) return;
    passes.zeroing = pass(work, Pass::kZeroing);
    if (!stopped() && needs_differential_pass(passes)) passes.differential = pass(work, Pass::kDifferential);
  }

  [[nodiscard]] Json result(const Work& work) const {
    if (!work.skipped.empty()) return skipped_point_json(plan_, *work.spec, work.skipped);
    return point_json(plan_, *work.spec, work.passes);
  }

 private:
  PassResult pass(Work& work, Pass which) {
    PassLimits limits;
    limits.timeout =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(plan_.timeout_s));
    limits.used = work.used;
    limits.resident_bytes = resident_limit(memory_needed(*work.spec));
    PassResult result =
        run_pass(plan_.allocators[work.spec->allocator], *work.spec, which, limits, [this] { return stopped(); });
    work.used += result.used();
    return result;
  }

  [[nodiscard]] std::string describe(const PointSpec& point, const char* pass) const {
    return fmt::format("{} {} touch {:g} ({})", plan_.allocators[point.allocator].name, format_size(point.size_bytes),
                       point.touch, pass);
  }

  const Plan& plan_;
  const RunHooks& hooks_;
};

}  // namespace

double expected_seconds(const Plan& plan, const PointSpec& point) {
  const Repeats& repeats = point.repeats;
  const double ops = repeats.audit_ops + (plan.audit_only ? 0 : repeats.min_ops + repeats.zeroing_ops);
  const double share = point.touch > 0 ? 1.0 : 0.4;
  return 0.015 + 0.45 * share * ops * static_cast<double>(memory_needed(point)) / static_cast<double>(kGiB);
}

bool run_plan(const Plan& plan, const RunHooks& hooks) {
  std::vector<const PointSpec*> todo;
  double weight = 0;
  for (const PointSpec& point : plan.points) {
    if (hooks.finished.contains(point_key(plan, point))) continue;
    todo.push_back(&point);
    weight += expected_seconds(plan, point);
  }
  Progress progress("measuring", todo.size(), weight);
  Runner runner(plan, hooks);
  for (std::size_t begin = 0; begin < todo.size();) {
    std::size_t end = begin;
    std::vector<Work> group;
    for (; end < todo.size() && same_group(*todo[begin], *todo[end]); ++end) {
      group.push_back({todo[end], {}, why_too_large(memory_needed(*todo[end])), {}});
    }
    runner.audit_all(group, progress);
    for (Work& work : group) {
      if (runner.stopped()) return false;
      if (work.skipped.empty() && !plan.audit_only) runner.time(work, progress);
      if (runner.stopped()) return false;
      progress.advance(expected_seconds(plan, *work.spec));
      progress.clear();
      hooks.on_point(runner.result(work));
    }
    begin = end;
  }
  return true;
}

}  // namespace zerotax
