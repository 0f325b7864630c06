#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/size.h"
#include "base/units.h"
#include "judge/projects.h"
#include "judge/rule.h"
#include "point/typed_point.h"
#include "profile/run.h"
#include "profile/table.h"
#include "report/report.h"
#include "report/reproducer.h"
#include "report/session.h"
#include "run/interrupt.h"
#include "run/planning.h"

namespace zerotax::report {

using profile::profile_point;
using profile::profile_result;
using profile::profile_text;
using profile::ProfiledRun;
using profile::ProfileSubject;
namespace {

constexpr double kProfileSeconds = 1;
constexpr unsigned kProfileHz = 997;
constexpr std::size_t kExcerptLines = 45;

std::string first_lines(const std::string& text, std::size_t lines) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < lines && end != std::string::npos; ++i) end = text.find('\n', end == 0 ? 0 : end + 1);
  return end == std::string::npos ? text : text.substr(0, end + 1) + "(cut)\n";
}

KnobEffect effect_of(const Point& point) {
  constexpr const char* kWhy = "not measured";
  return {{point.evident_count(Metric::kRedundantZeroedBytes), kWhy},
          {point.evident_count(Metric::kCallocFaults), kWhy},
          {operation_faults(point), kWhy},
          {operation_ns(point), kWhy},
          {}};
}

/// Returns the points at which the settings against a finding are tried. A cliff needs both of its sides, and a
/// difference between threads needs both threads.
PlanAxes axes_of(const ReportData& data) {
  PlanAxes axes{{case_of(data.finding)}, {data.size_bytes}, {table_touch(data)}, {table_thread(data)}};
  if (data.finding.rule == "cliff") {
    axes.sizes = {data.size_bytes - 1, data.size_bytes};
    axes.touches = {0, 1};
  }
  if (data.finding.rule == "worker-differs") {
    axes.threads = {"main", "worker"};
    axes.touches = {0, 1};
  }
  return axes;
}

std::string command_line(const Finding& finding, const Allocator& allocator) {
  const bool threads = finding.rule == "cliff" || finding.rule == "worker-differs";
  std::string how = fmt::format("cc -O2 {}reproducer.c -o reproducer && ", threads ? "-pthread " : "");
  for (const auto& [key, value] : allocator.env) how += fmt::format("{}={} ", key, value);
  if (allocator.preload) how += fmt::format("LD_PRELOAD={} ", *allocator.preload);
  return how + "./reproducer";
}

}  // namespace

void ReportSession::try_knobs(ReportData& data) const {
  const std::string& name = request_.subject.name;
  const Point* own =
      point_at(data.points, name, case_of(data.finding), data.size_bytes, table_touch(data), table_thread(data));
  data.without = NotAvailable{"not measured"};
  if (own != nullptr) data.without = effect_of(*own);
  auto knobs = entries_about(name, &Project::knobs, data.finding);
  std::erase_if(knobs, [&](const ProjectKnob& knob) { return lacks(request_.subject.version, knob.since); });
  if (knobs.empty()) return;
  const std::string version = data.subject.version.value_or("");
  const auto is_too_new = [&](const ProjectKnob& knob) {
    return knob.since && !version.empty() && is_older(version, *knob.since);
  };
  const auto too_new = static_cast<std::size_t>(std::count_if(knobs.begin(), knobs.end(), is_too_new));
  say_step("trying " + format_counted(knobs.size() - too_new, "setting"));
  std::vector<Allocator> variants(knobs.size(), request_.subject);
  std::vector<Allocator> tried;
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    for (const auto& [key, value] : knobs[i].env) variants[i].env[key] = value;
    variants[i].name += fmt::format("#{}", i + 1);
    if (!is_too_new(knobs[i])) tried.push_back(variants[i]);
  }
  Plan plan = plan_of(tried);
  add_points(plan, axes_of(data), kReportRepeats);
  const std::vector<Point> points = tried.empty() ? std::vector<Point>{} : run(std::move(plan));
  const std::vector<AllocatorFindings> found = find_findings(points);
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    KnobTrial trial{knobs[i], NotAvailable{"not measured"}};
    if (is_too_new(knobs[i])) {
      trial.effect = NotAvailable{fmt::format("not tried: available from {} on; this is {}", *knobs[i].since, version)};
    }
    const Point* point = point_at(points, variants[i].name, case_of(data.finding), data.size_bytes, table_touch(data),
                                  table_thread(data));
    if (point != nullptr && point->is_ok()) {
      trial.effect = effect_of(*point);
      const auto& with =
          *std::find_if(found.begin(), found.end(), [&](const auto& one) { return one.allocator == variants[i].name; });
      (*trial.effect).avoids = std::none_of(with.findings.begin(), with.findings.end(),
                                            [&](const Finding& each) { return each.name == data.finding.name; });
    } else if (point != nullptr) {
      trial.effect = NotAvailable{point->reason.value_or("failed")};
    }
    data.knobs.push_back(std::move(trial));
  }
}

void ReportSession::profile(ReportData& data) const {
  say_step("profiling");
  const PointSpec point{0, case_of(data.finding), data.size_bytes, table_touch(data), table_thread(data), {}};
  try {
    const ProfiledRun profiled = profile_point(request_.subject, point, kProfileSeconds, {kProfileHz});
    if (interrupted() != 0) throw ReportInterrupted{};
    ProfileSubject subject;
    subject.command = {case_of(data.finding), request_.subject.name, format_size(data.size_bytes),
                       fmt::format("touch {:g}", table_touch(data)), table_thread(data)};
    subject.hz = kProfileHz;
    subject.started = started_;
    subject.wall_s = profiled.wall_s;
    subject.user_s = profiled.user_s;
    subject.system_s = profiled.system_s;
    subject.faults = profiled.faults;
    subject.exit_status = profiled.exit_status;
    const profile::Profile found = profile_result(subject, profiled.data, environment_);
    data.profile = ReportProfile{found.samples, found.categories};
    data.profile_text = first_lines(profile_text(found, 80, 0.03), kExcerptLines);
  } catch (const Error& failure) {
    data.profile = NotAvailable{failure.what()};
    data.profile_text = fmt::format("n/a: {}\n", failure.what());
  }
}

std::string ReportSession::reproduce(ReportData& data) const {
  if (!has_reproducer(data.finding.name)) return fmt::format("zerotax has no reproducer for {}", data.finding.name);
  say_step("compiling and running the reproducer");
  const Allocator subject = resolve_reproducer_allocator(request_.subject);
  Finding finding = data.finding;
  finding.named_bytes = data.size_bytes;
  data.how = command_line(finding, subject);
  data.source = reproducer_source(finding, {fmt::format("{}: {}", name_and_version(subject), finding.title),
                                            data.how + "   (exit status 1: it shows, 0: it does not)"});
  const ReproducerProgram program(compiler_, data.source);
  data.shown = program.run(subject);
  if (interrupted() != 0) throw ReportInterrupted{};
  if (!data.shown.shows()) {
    return fmt::format(
        "under {} the reproducer ended with {}: {}", subject.name, data.shown.ended,
        first_lines(data.shown.output.substr(data.shown.output.rfind('\n', data.shown.output.size() - 2) + 1), 1));
  }
  std::string others;
  for (const Allocator& each : request_.controls) {
    data.control = program.run(resolve_reproducer_allocator(each));
    if (interrupted() != 0) throw ReportInterrupted{};
    if (data.control.does_not_show()) break;
    others += fmt::format("{}{}", others.empty() ? "" : ", ", each.name);
  }
  if (!data.control.does_not_show()) {
    return others.empty() ? "this build has no other allocator as a control"
                          : fmt::format(
                                "the finding also shows under every control ({}), so the reproducer proves nothing "
                                "about {}",
                                others, subject.name);
  }
  const Project* project = project_of(request_.subject.name);
  if (project != nullptr && project->diagnostics) {
    Allocator talking = subject;
    for (const auto& [key, value] : project->diagnostics->env) talking.env[key] = value;
    data.diagnostics =
        fmt::format("{}\n{}", project->diagnostics->words, first_lines(program.run(talking).errors, kExcerptLines));
  }
  return "";
}

}  // namespace zerotax::report
