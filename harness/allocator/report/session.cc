#include "report/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/size.h"
#include "base/units.h"
#include "judge/rule.h"
#include "os/clock.h"
#include "os/environment.h"
#include "report/report.h"
#include "report/reproducer.h"
#include "run/interrupt.h"
#include "run/planning.h"
#include "run/session.h"
#include "thresholds/session.h"

namespace zerotax::report {

using thresholds::kQuickFrom;
using thresholds::kQuickPerOctave;
using thresholds::kQuickTo;
using thresholds::kRefillFrom;
using thresholds::kRefillPerOctave;
using thresholds::kRefillTo;
using thresholds::ThresholdAxes;
using thresholds::ThresholdSession;
namespace {

/// Sizes of the survey: the sizes in the names of findings, and one size that is not a size class.
const std::vector<std::uint64_t> kSurveySizes{64 * kKiB, 160 * kKiB, 256 * kKiB, kMiB, 20 * kMiB, 100 * kMiB};
const std::vector<std::uint64_t> kTableSizes{kMiB, 20 * kMiB, 100 * kMiB};

/// Returns the sizes in the id of a requested finding, because the finding shows only if these sizes are measured.
/// Returns nothing if the id is invalid.
std::vector<std::uint64_t> sizes_in_id(const std::string& id, const std::string& allocator) {
  if (!is_possible_id(id, allocator)) return {};
  const auto dash = id.rfind('-');
  try {
    const std::uint64_t size = std::max<std::uint64_t>(parse_size(id.substr(dash + 1)), 2);
    return id.find("-cliff-") == std::string::npos ? std::vector{size} : std::vector{size - 1, size};
  } catch (const UsageError&) {
    return {};  // a rounded size, as in 1.37MiB
  }
}

}  // namespace

ReportSession::ReportSession(ReportRequest request, CCompiler compiler)
    : request_(std::move(request)),
      compiler_(std::move(compiler)),
      started_(utc_now()),
      environment_(describe_environment()) {}

Plan ReportSession::plan_of(const std::vector<Allocator>& allocators) const {
  Plan plan;
  plan.timeout_s = request_.timeout_s;
  plan.allocators = allocators;
  return plan;
}

std::vector<Point> ReportSession::run(Plan plan) const {
  Session session(std::move(plan), std::nullopt, request_.command);
  if (session.run() != 0) throw ReportInterrupted{};
  return session.points();
}

std::vector<MeasuredThreshold> ReportSession::thresholds_of(const std::string& case_name, double touch,
                                                            const std::string& thread) {
  const std::tuple key{case_name, touch, thread};
  for (const auto& [searched, thresholds] : lanes_) {
    if (searched == key) return thresholds;
  }
  say_step(fmt::format("searching the thresholds of {}, touch {:g}, {} thread", request_.subject.name, touch, thread));
  ThresholdAxes axes{kQuickFrom, kQuickTo, kQuickPerOctave, {touch}, {thread}, case_name};
  if (case_name == kRefillCase) {
    axes.from = kRefillFrom;
    axes.to = kRefillTo;
    axes.per_octave = kRefillPerOctave;
  }
  ThresholdSession session(plan_of({request_.subject}), axes);
  if (session.run() != 0) throw ReportInterrupted{};
  lanes_.emplace_back(key, MeasuredThresholds(session.json()).all);
  return lanes_.back().second;
}

void ReportSession::add_cliff_points() {
  std::set<std::uint64_t> sizes;
  for (const double touch : {0.0, 1.0}) {
    for (const MeasuredThreshold& threshold : thresholds_of("calloc_loop", touch, "main")) {
      if (threshold.exact && !threshold.noisy) sizes.insert({threshold.at_bytes - 1, threshold.at_bytes});
    }
  }
  if (sizes.empty()) return;
  say_step("measuring on both sides of each threshold");
  Plan plan = plan_of({request_.subject});
  add_points(plan, {{"calloc_loop"}, {sizes.begin(), sizes.end()}, {0, 1}, {"main"}}, kReportRepeats);
  for (Point& point : run(std::move(plan))) {
    if (point_at(points_, request_.subject.name, point.case_name, point.size_bytes, point.touch, "main") == nullptr) {
      points_.push_back(std::move(point));
    }
  }
}

void ReportSession::check_measured() const {
  const auto without = static_cast<std::size_t>(
      std::count_if(points_.begin(), points_.end(), [&](const Point& point) { return !has_result(point); }));
  if (without == 0) return;
  const auto first =
      std::find_if_not(points_.begin(), points_.end(), [](const Point& point) { return has_result(point); });
  const std::string reason =
      fmt::format("{} of {} points of {} could not be measured, the first {} ({})", without, points_.size(),
                  request_.subject.name, format_size(first->size_bytes), first->reason.value_or("no reason"));
  if (without == points_.size() && found_.findings.empty())
    throw UsageError(reason, "see which points fail: zerotax run");
  say_step(reason + ": the search for findings leaves them out");
}

const AllocatorFindings& ReportSession::survey() {
  say_step(fmt::format("searching for {} of {}; each report then takes about half a minute",
                       request_.finding.empty() ? "findings" : request_.finding, request_.subject.name));
  // A requested finding is searched for only at its own size.
  std::vector<std::uint64_t> sizes = sizes_in_id(request_.finding, request_.subject.name);
  if (sizes.empty()) sizes = kSurveySizes;
  sizes.insert(sizes.end(), request_.sizes.begin(), request_.sizes.end());
  Plan plan = plan_of({request_.subject});
  if (request_.finding.find("-refill-storm-") != std::string::npos) {
    add_points(plan, {{"refill_loop"}, sizes, {1}, {"main"}}, kReportRepeats);
  } else {
    add_points(plan, {{"calloc_loop"}, sizes, {0, 1}, {"main", "worker"}}, kReportRepeats);
  }
  points_ = run(std::move(plan));
  const auto is_measured = [](const Point& point) { return point.is_ok(); };
  if (request_.finding.empty() && std::any_of(points_.begin(), points_.end(), is_measured)) add_cliff_points();
  found_ = find_findings(points_).front();
  check_measured();
  return found_;
}

std::optional<ReportData> ReportSession::measure(const Finding& finding) {
  const std::string& name = request_.subject.name;
  const std::string id = finding_id(name, finding);
  ReportData data;
  data.subject = found_;
  data.finding = finding;
  data.started = started_;
  data.environment = environment_;
  data.compiler = compiler_.version;
  // In the refill case, each size has eight buffers. Buffers of 100 MiB would take minutes without showing more.
  std::vector<std::uint64_t> sizes =
      case_of(finding) == kRefillCase ? std::vector{256 * kKiB, kMiB, 4 * kMiB} : kTableSizes;
  sizes.insert(sizes.end(), request_.sizes.begin(), request_.sizes.end());
  const auto distance = [&](const EvidencePoint& point) {
    return std::abs(static_cast<std::int64_t>(point.size_bytes) - static_cast<std::int64_t>(finding.named_bytes));
  };
  const auto nearest =
      std::min_element(finding.evidence.begin(), finding.evidence.end(),
                       [&](const auto& one, const auto& other) { return distance(one) < distance(other); });
  data.size_bytes = finding.exact ? finding.named_bytes : nearest->size_bytes;
  sizes.push_back(data.size_bytes);
  if (finding.rule == "cliff") sizes.push_back(data.size_bytes - 1);

  say_step(fmt::format("measuring {} and other allocators, for {}", name, id));
  std::vector<Allocator> allocators{request_.subject};
  allocators.insert(allocators.end(), request_.controls.begin(), request_.controls.end());
  Plan plan = plan_of(allocators);
  add_points(plan, {{case_of(finding)}, sizes, {table_touch(data)}, {table_thread(data)}}, kReportRepeats);
  data.points = run(std::move(plan));
  std::vector<Point> all = data.points;
  for (const Point& point : points_) {
    if (point_at(all, name, point.case_name, point.size_bytes, point.touch, point.thread) == nullptr)
      all.push_back(point);
  }
  const auto again = [&](const std::vector<Point>& points) {
    data.subject = find_findings(points).front();
    const auto found =
        std::find_if(data.subject.findings.begin(), data.subject.findings.end(), [&](const Finding& each) {
          return each.name == finding.name && each.from_bytes <= data.size_bytes && data.size_bytes <= each.to_bytes;
        });
    if (found == data.subject.findings.end()) return false;
    data.finding = *found;
    return true;
  };
  if (!again(all)) return std::nullopt;
  if (finding_id(name, data.finding) != id) {
    // More sizes widen the finding's range and change the size in its id, so only the finding's own size is used.
    std::erase_if(all, [&](const Point& point) {
      return point.size_bytes != data.size_bytes &&
             !(finding.rule == "cliff" && point.size_bytes + 1 == data.size_bytes);
    });
    if (!again(all)) return std::nullopt;
    data.finding.named_bytes = finding.named_bytes;
  }
  data.thresholds = thresholds_of(case_of(finding), table_touch(data), table_thread(data));
  try_knobs(data);
  profile(data);
  return data;
}

}  // namespace zerotax::report
