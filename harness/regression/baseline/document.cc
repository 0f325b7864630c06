#include "baseline/document.h"

#include <fmt/format.h>

#include <set>
#include <stdexcept>

#include "base/error.h"
#include "base/fields.h"
#include "base/names.h"
#include "base/printable.h"
#include "files/document.h"
#include "os/child.h"
#include "os/environment.h"
#include "point/point_document.h"
#include "point/typed_point.h"
#include "record/result.h"
#include "record/runs/document.h"

namespace zerotax::baseline {

void to_json(Json& json, const BaselineThreshold& threshold) {
  json = {{"at_bytes", threshold.at_bytes}, {"changes", threshold.changes}, {"directions", Json::array()}};
  for (const BehaviourChange& change : threshold.changes) json["directions"].push_back(change.direction);
  if (any_fails(threshold.changes)) json["fails"] = true;
}
void from_json(const Json& json, BaselineThreshold& threshold) {
  threshold = {json.at("at_bytes"), json.at("changes")};
  // A baseline of version 0.2 has the words alone.
  const auto directions = json.find("directions");
  if (directions == json.end()) return;
  if (directions->size() != threshold.changes.size()) {
    throw std::invalid_argument(
        fmt::format("/thresholds: at {} bytes, as many directions as changes are needed", threshold.at_bytes));
  }
  for (std::size_t i = 0; i < threshold.changes.size(); ++i) {
    directions->at(i).get_to(threshold.changes[i].direction);
    threshold.changes[i].fails = json.value("fails", false);
  }
}
ZEROTAX_FIELDS(UncertainThreshold, from_bytes, to_bytes, changes, seen, looks)

void to_json(Json& json, const PointIdentity& point) {
  json = {{"case", point.case_name}, {"size_bytes", point.size_bytes}, {"touch", point.touch}};
  json["thread"] = point.thread;
}

void from_json(const Json& json, PointIdentity& point) {
  point = {json.at("case"), json.at("size_bytes"), json.at("touch"), json.at("thread")};
}

void to_json(Json& json, const SeenRange& range) {
  json = range.point;
  json["call"] = range.call;
  json["metric"] = dotted_key(row_of(range.metric));
  json["runs"] = range.runs;
  if (row_of(range.metric).kind == MetricKind::kWord) {
    json["words"] = range.words;
  } else if (row_of(range.metric).kind == MetricKind::kSystemCalls) {
    json["calls"] = range.calls;
  } else {
    json.update(range.number);
  }
}

Json steady_json(const Point& point) {
  Json json{{"status", word_of(point.status)}};
  for (const Metric metric : kSteadyMetrics) add_value(point, row_of(metric), json);
  return json;
}

namespace {

/// The word of a baseline for ClockMode::kStopped.
constexpr const char* kStopped = "stopped";

Json point_to_json(const Point& point) {
  Json json = identity_of(point);
  json.update(steady_json(point));
  json["first_ops"] = Json::array();
  for (const FirstOperation& operation : point.first_ops) {
    Json& entry = json["first_ops"].emplace_back(Json::object());
    for (const Metric metric : kEarlyMetrics) add_value(operation, row_of(metric), entry);
  }
  return json;
}

SeenRange range_from_json(const Json& json) {
  SeenRange range;
  json.get_to(range.point);
  json.at("call").get_to(range.call);
  const auto metric = metric_of_key(json.at("metric").get<std::string>());
  if (!metric) throw std::invalid_argument(": unknown metric " + json_line(json.at("metric")));
  range.metric = *metric;
  json.at("runs").get_to(range.runs);
  if (json.contains("low")) json.get_to(range.number);
  range.words = json.value("words", std::vector<std::string>());
  range.calls = json.value("calls", std::map<std::string, Range>());
  return range;
}

std::vector<SeenRange> ranges_from_json(const Json& json) {
  std::vector<SeenRange> ranges;
  for (const Json& each : json) {
    try {
      ranges.push_back(range_from_json(each));
    } catch (const std::invalid_argument& problem) {
      throw std::invalid_argument(fmt::format("/ranges/{}{}", ranges.size(), problem.what()));
    }
  }
  return ranges;
}

std::vector<Point> points_from_json(const Json& json, std::uint64_t page) {
  std::vector<Point> points;
  for (const Json& each : json) {
    const std::string place = fmt::format("/points/{}", points.size());
    try {
      const Point& point = points.emplace_back(point_from_json(each, page));
      if (const std::string problem = contradiction_in(point); !problem.empty()) throw std::invalid_argument(problem);
      for (std::size_t i = 0; i + 1 < points.size(); ++i) {
        if (identity_of(points[i]) != identity_of(point)) continue;
        throw std::invalid_argument(": the point " + key_of(point).substr(1) + " occurs twice");
      }
    } catch (const std::invalid_argument& problem) {
      throw std::invalid_argument(place + problem.what());
    }
  }
  return points;
}

/// A condition in words.
template <typename T>
std::string condition(const Measured<T>& found) {
  return found ? fmt::format("{}", *found) : "unknown";
}

/// Reads a document. `read` converts its JSON, and throws std::invalid_argument if the document is damaged.
template <typename Read>
auto read_undamaged(const std::string& path, const char* schema, const char* remedy, const Read& read) {
  const Json json = read_document(path, schema, remedy);
  try {
    return read(json);
  } catch (const std::invalid_argument& problem) {
    throw UsageError(fmt::format("{} is damaged: {}", path, problem.what()), remedy);
  }
}

std::vector<Program> programs_from_json(const Json& json) {
  std::vector<Program> programs;
  std::set<std::string> names;
  for (const Json& each : json.at("programs")) {
    try {
      const Program& program = programs.emplace_back(each.get<Program>());
      if (!names.insert(program.name).second) throw std::invalid_argument(": it occurs twice");
    } catch (const std::invalid_argument& problem) {
      throw std::invalid_argument(
          fmt::format("program '{}'{}", printable(text_field(each, "name", "")), problem.what()));
    }
  }
  return programs;
}

}  // namespace

Json to_json(const Baseline& baseline) {
  Json json{{"schema", "zerotax.baseline/1"},
            {"allocator", baseline.allocator},
            {"version", baseline.version},
            {"env", baseline.env},
            {"measured_on", baseline.measured_on}};
  if (baseline.clock == ClockMode::kStopped) json["conditions"] = {{"clock", kStopped}};
  json["points"] = Json::array();
  for (const Point& point : baseline.points) json["points"].push_back(point_to_json(point));
  write_field(json, "thresholds", baseline.thresholds);
  if (!baseline.uncertain.empty()) json["uncertain_thresholds"] = baseline.uncertain;
  if (!baseline.ranges.empty()) json["ranges"] = baseline.ranges;
  write_field(json, "by_the_clock", baseline.by_the_clock);
  return json;
}

Baseline baseline_from_json(const Json& json) {
  Baseline baseline;
  read_field(json, "allocator", baseline.allocator);
  read_field(json, "version", baseline.version);
  read_field(json, "env", baseline.env);
  read_field(json, "measured_on", baseline.measured_on);
  if (const auto found = json.find("conditions"); found != json.end()) {
    baseline.clock = text_field(*found, "clock", "") == kStopped ? ClockMode::kStopped : ClockMode::kReal;
  }
  baseline.points = points_from_json(json.at("points"), page_bytes_of(baseline.measured_on));
  read_field(json, "thresholds", baseline.thresholds);
  baseline.uncertain = json.value("uncertain_thresholds", std::vector<UncertainThreshold>());
  baseline.ranges = ranges_from_json(json.value("ranges", Json::array()));
  read_field(json, "by_the_clock", baseline.by_the_clock);
  return baseline;
}

Json conditions_of(const Environment& environment) {
  return {{"kernel", environment.kernel},
          {"cpu", environment.cpu},
          {"thp", environment.thp},
          {"cpus", environment.cpus},
          {"page_bytes", environment.page_bytes},
          {"libc", environment.libc},
          {"pagemap_scan", environment.pagemap_scan},
          {"zerotax", ZEROTAX_VERSION}};
}

/// A call stack of a baseline, with its key.
struct SiteEntry : runs::SiteKey, SiteRange {};
ZEROTAX_FIELDS(SiteEntry, kind, stack, place, numbers)
struct ProgramEntry : Program {
  std::vector<SiteEntry> sites;  ///< in place of the map
};
ZEROTAX_FIELDS(ProgramEntry, name, command, env, exit_status, runs, measured_on, metrics, processes, sites)

void to_json(Json& json, const Program& program) {
  ProgramEntry entry{program, {}};
  for (const auto& [key, site] : program.sites) entry.sites.push_back({key, site});
  to_json(json, entry);
}
void from_json(const Json& json, Program& program) {
  const auto entry = json.get<ProgramEntry>();
  program = entry;
  program.name = printable(program.name);
  for (const SiteEntry& site : entry.sites) program.sites.emplace(site, site);
}

Json conditions_now(const std::string& allocator) {
  const Environment environment = describe_environment();
  const std::string libc = condition(environment.libc);
  const std::string called = file_name(allocator).starts_with("libc.so") ? libc : allocator;
  return {{"kernel", condition(environment.kernel)},
          {"thp", condition(environment.thp)},
          {"libc", libc},
          {"aslr", can_fix_layout() ? "fixed layout" : "random layout"},
          {"allocator", called.empty() ? "unknown" : called},
          {"cpus", condition(environment.cpus)},
          {"page_bytes", condition(environment.page_bytes)},
          {"zerotax", ZEROTAX_VERSION}};
}

Json programs_json(const std::vector<Program>& programs) {
  return {{"schema", "zerotax.program_baseline/1"}, {"zerotax_version", ZEROTAX_VERSION}, {"programs", programs}};
}

Baseline read_baseline(const std::string& path) {
  return read_undamaged(path, "baseline", "make a new one with `zerotax bless`", baseline_from_json);
}

std::vector<Program> read_programs(const std::string& path) {
  return read_undamaged(path, "program_baseline", "make a new one with `zerotax bless --baseline FILE -- COMMAND`",
                        programs_from_json);
}

}  // namespace zerotax::baseline
