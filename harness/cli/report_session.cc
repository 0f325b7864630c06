#include "cli/report_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyze/finding_points.h"
#include "analyze/profile_report.h"
#include "analyze/report_tables.h"
#include "analyze/reproducer.h"
#include "analyze/tax.h"
#include "analyze/upstream.h"
#include "base/error.h"
#include "base/size.h"
#include "cli/threshold_session.h"
#include "drive/interrupt.h"
#include "drive/profile_run.h"
#include "drive/session.h"
#include "os/environment.h"

namespace zerotax {
namespace {

/// Sizes of the survey: those that name findings, and one that is no size class.
const std::vector<std::uint64_t> kSurveySizes{64 * kKiB, 160 * kKiB, 256 * kKiB, kMiB, 20 * kMiB, 100 * kMiB};
const std::vector<std::uint64_t> kTableSizes{kMiB, 20 * kMiB, 100 * kMiB};
/// As the quick study searches.
constexpr std::uint64_t kSearchFrom = 64 * kKiB;
constexpr std::uint64_t kSearchTo = 160 * kMiB;
constexpr unsigned kSearchGrid = 2;
constexpr double kProfileSeconds = 1;
constexpr unsigned kProfileHz = 997;
constexpr std::size_t kExcerptLines = 45;

/// What changes with the number of the call does so before the sixth.
constexpr Repeats kRepeats{20, 8, 8, 8, 300};

void say(const std::string& what) { fmt::print(stderr, "report: {}\n", what); }

std::string first_lines(const std::string& text, std::size_t lines) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < lines && end != std::string::npos; ++i) end = text.find('\n', end == 0 ? 0 : end + 1);
  return end == std::string::npos ? text : text.substr(0, end + 1) + "(cut)\n";
}

/// The size that the finding's id has, where one is asked for: it must be measured to be found again. None if the id is
/// no possible one.
std::vector<std::uint64_t> sizes_in_id(const std::string& id, const std::string& allocator) {
  if (!is_possible_id(id, allocator)) return {};
  const auto dash = id.rfind('-');
  try {
    const std::uint64_t size = parse_size(id.substr(dash + 1));
    return id.find("-cliff-") == std::string::npos ? std::vector{size} : std::vector{size - 1, size};
  } catch (const UsageError&) {
    return {};  // rounded, as in 1.37MiB
  }
}

const Json* point_at(const std::vector<Json>& points, const std::string& allocator, std::uint64_t size, double touch,
                     const std::string& thread) {
  const auto found = std::find_if(points.begin(), points.end(), [&](const Json& point) {
    return point.at("allocator") == allocator && size_of(point) == size && point.at("touch") == touch &&
           point.at("thread") == thread;
  });
  return found == points.end() ? nullptr : &*found;
}

/// The figures by which settings are compared.
Json figures_of(const Json& point) {
  const auto figure = [](auto value) { return value ? Json(*value) : not_available("not measured"); };
  return {{"redundant_zeroed_bytes", figure(count_in(point, "redundant_zeroed_bytes"))},
          {"calloc_faults", figure(count_in(point, "calloc_faults"))},
          {"operation_faults", figure(operation_faults(point))},
          {"operation_ns", figure(operation_ns(point))}};
}

Allocator with_knob(Allocator allocator, const Json& env, std::size_t number) {
  for (const auto& [key, value] : env.items()) allocator.env[key] = value.get<std::string>();
  allocator.name += fmt::format("#{}", number);
  return allocator;
}

/// Where a finding is tried: its size (both sides of a cliff), its touch, its threads.
PlanAxes axes_of(const ReportData& data) {
  PlanAxes axes{{"calloc_loop"}, {data.size_bytes}, {table_touch(data)}, {table_thread(data)}};
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

std::vector<Json> ReportSession::run(Plan plan) const {
  Session session(std::move(plan), std::nullopt, request_.command);
  if (session.run() != 0) throw ReportInterrupted{};
  return session.points();
}

std::vector<Json> ReportSession::thresholds_of(double touch, const std::string& thread) {
  const std::pair key{touch, thread};
  for (const auto& [searched, thresholds] : lanes_) {
    if (searched == key) return thresholds;
  }
  say(fmt::format("searching the thresholds of {}, touch {:g}, {} thread", request_.subject.name, touch, thread));
  ThresholdSession session(plan_of({request_.subject}), {kSearchFrom, kSearchTo, kSearchGrid, {touch}, {thread}});
  if (session.run() != 0) throw ReportInterrupted{};
  const Json json = session.json();
  lanes_.emplace_back(key, json.at("thresholds").get<std::vector<Json>>());
  return lanes_.back().second;
}

void ReportSession::add_cliff_points() {
  std::set<std::uint64_t> sizes;
  for (const double touch : {0.0, 1.0}) {
    for (const Json& threshold : thresholds_of(touch, "main")) {
      if (!threshold.at("exact").get<bool>() || threshold.at("noisy").get<bool>()) continue;
      const auto at = threshold.at("at_bytes").get<std::uint64_t>();
      sizes.insert({at - 1, at});
    }
  }
  if (sizes.empty()) return;
  say("measuring on both sides of each threshold");
  Plan plan = plan_of({request_.subject});
  add_points(plan, {{"calloc_loop"}, {sizes.begin(), sizes.end()}, {0, 1}, {"main"}}, kRepeats);
  for (Json& point : run(std::move(plan))) {
    if (point_at(points_, request_.subject.name, size_of(point), point.at("touch"), "main") == nullptr) {
      points_.push_back(std::move(point));
    }
  }
}

const AllocatorFindings& ReportSession::survey() {
  say(fmt::format("looking for {} of {}; each report then takes about half a minute",
                  request_.finding.empty() ? "findings" : request_.finding, request_.subject.name));
  // One finding that is asked for shows at its own size, or not at all.
  std::vector<std::uint64_t> sizes = sizes_in_id(request_.finding, request_.subject.name);
  if (sizes.empty()) sizes = kSurveySizes;
  sizes.insert(sizes.end(), request_.sizes.begin(), request_.sizes.end());
  Plan plan = plan_of({request_.subject});
  add_points(plan, {{"calloc_loop"}, sizes, {0, 1}, {"main", "worker"}}, kRepeats);
  points_ = run(std::move(plan));
  if (request_.finding.empty()) add_cliff_points();
  found_ = find_findings(points_, nullptr).front();
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
  std::vector<std::uint64_t> sizes = kTableSizes;
  sizes.insert(sizes.end(), request_.sizes.begin(), request_.sizes.end());
  const auto distance = [&](const Json& entry) {
    return std::abs(static_cast<std::int64_t>(size_of(entry)) - static_cast<std::int64_t>(finding.named_bytes));
  };
  const Json& nearest = *std::min_element(finding.evidence.begin(), finding.evidence.end(),
                                          [&](const Json& a, const Json& b) { return distance(a) < distance(b); });
  data.size_bytes = finding.exact ? finding.named_bytes : size_of(nearest);
  sizes.push_back(data.size_bytes);
  if (finding.rule == "cliff") sizes.push_back(data.size_bytes - 1);

  say(fmt::format("measuring {} beside other allocators, for {}", name, id));
  std::vector<Allocator> allocators{request_.subject};
  allocators.insert(allocators.end(), request_.controls.begin(), request_.controls.end());
  Plan plan = plan_of(allocators);
  add_points(plan, {{"calloc_loop"}, sizes, {table_touch(data)}, {table_thread(data)}}, kRepeats);
  data.points = run(std::move(plan));
  std::vector<Json> all = data.points;
  for (const Json& point : points_) {
    if (point_at(all, name, size_of(point), point.at("touch"), point.at("thread")) == nullptr) all.push_back(point);
  }
  data.subject = find_findings(all, nullptr).front();
  // With more sizes its range may be wider, and have another name.
  const auto again = std::find_if(data.subject.findings.begin(), data.subject.findings.end(), [&](const Finding& each) {
    return each.name == finding.name && each.from_bytes <= data.size_bytes && data.size_bytes <= each.to_bytes;
  });
  if (again == data.subject.findings.end()) return std::nullopt;
  data.finding = *again;
  data.finding.named_bytes = finding.named_bytes;
  data.thresholds = thresholds_of(table_touch(data), table_thread(data));
  try_knobs(data);
  profile(data);
  return data;
}

void ReportSession::try_knobs(ReportData& data) const {
  const std::string& name = request_.subject.name;
  const Json* own = point_at(data.points, name, data.size_bytes, table_touch(data), table_thread(data));
  data.without = own == nullptr ? not_available("not measured") : figures_of(*own);
  const std::vector<Json> knobs = upstream_entries(name, "knobs", data.finding);
  if (knobs.empty()) return;
  say(fmt::format("trying {} setting{}", knobs.size(), knobs.size() == 1 ? "" : "s"));
  std::vector<Allocator> variants;
  variants.reserve(knobs.size());
  for (const Json& knob : knobs) variants.push_back(with_knob(request_.subject, knob.at("env"), variants.size() + 1));
  Plan plan = plan_of(variants);
  add_points(plan, axes_of(data), kRepeats);
  const std::vector<Json> points = run(std::move(plan));
  const std::vector<AllocatorFindings> found = find_findings(points, nullptr);
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    KnobTrial trial{knobs[i].at("env"), knobs[i].at("words"), knobs[i].at("mark"), {}};
    const Json* point = point_at(points, variants[i].name, data.size_bytes, table_touch(data), table_thread(data));
    if (point == nullptr || point->at("status") != "ok") {
      trial.effect = not_available(point == nullptr ? "not measured" : text_field(*point, "reason", "failed"));
    } else {
      trial.effect = figures_of(*point);
      const auto& with =
          *std::find_if(found.begin(), found.end(), [&](const auto& one) { return one.allocator == variants[i].name; });
      trial.effect["avoids"] = std::none_of(with.findings.begin(), with.findings.end(),
                                            [&](const Finding& each) { return each.name == data.finding.name; });
    }
    data.knobs.push_back(std::move(trial));
  }
}

void ReportSession::profile(ReportData& data) const {
  say("profiling");
  const PointSpec point{0, "calloc_loop", data.size_bytes, table_touch(data), table_thread(data), {}};
  try {
    const ProfiledRun profiled = profile_point(request_.subject, point, kProfileSeconds, kProfileHz);
    if (interrupted() != 0) throw ReportInterrupted{};
    ProfileSubject subject;
    subject.command = {"calloc_loop", request_.subject.name, format_size(data.size_bytes),
                       fmt::format("touch {:g}", table_touch(data)), table_thread(data)};
    subject.hz = kProfileHz;
    subject.started = started_;
    subject.wall_s = profiled.wall_s;
    subject.user_s = profiled.user_s;
    subject.system_s = profiled.system_s;
    subject.exit_status = profiled.exit_status;
    const Json json = profile_json(subject, profiled.data, environment_);
    data.profile = {{"samples", json.at("samples")}, {"categories", json.at("categories")}};
    data.profile_text = first_lines(profile_text(json, 80, 0.03), kExcerptLines);
  } catch (const Error& failure) {
    data.profile = not_available(failure.what());
    data.profile_text = fmt::format("n/a: {}\n", failure.what());
  }
}

std::string ReportSession::reproduce(ReportData& data) const {
  if (!has_reproducer(data.finding.name)) return fmt::format("there is no reproducer for {}", data.finding.name);
  say("compiling and running the reproducer");
  const Allocator subject = resolve_reproducer_allocator(request_.subject);
  Finding finding = data.finding;
  finding.named_bytes = data.size_bytes;
  data.how = command_line(finding, subject);
  data.source = reproducer_source(
      finding,
      {fmt::format(
           "{}: {}",
           allocator_label({{"allocator", subject.name}, {"version", version_json(subject)}, {"env", Json::object()}}),
           finding.title),
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
    return others.empty()
               ? "there is no other allocator here to control it with"
               : fmt::format("it shows under every control ({}): it tells nothing of {}", others, subject.name);
  }
  const Json* upstream = upstream_of(request_.subject.name);
  if (upstream != nullptr && upstream->contains("diagnostics")) {
    Allocator talking = subject;
    for (const auto& [key, value] : upstream->at("diagnostics").at("env").items()) talking.env[key] = value;
    data.diagnostics = fmt::format("{}\n{}", upstream->at("diagnostics").at("words").get<std::string>(),
                                   first_lines(program.run(talking).errors, kExcerptLines));
  }
  return "";
}

}  // namespace zerotax
