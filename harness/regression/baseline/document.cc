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

namespace zerotax::baseline {

void to_json(Json& json, const BaselineThreshold& threshold) {
  ThresholdEntry entry{threshold.at_bytes, threshold.changes, {}, {}};
  entry.directions.emplace();
  for (const BehaviourChange& change : threshold.changes) entry.directions->push_back(change.direction);
  if (any_fails(threshold.changes)) entry.fails = true;
  json = entry;
}
void from_json(const Json& json, BaselineThreshold& threshold) {
  const auto entry = json.get<ThresholdEntry>();
  threshold = {entry.at_bytes, entry.changes};
  // A baseline of zerotax 0.2 stores the words of a threshold without the directions.
  if (!entry.directions) return;
  if (entry.directions->size() != threshold.changes.size()) {
    throw std::invalid_argument(fmt::format(
        "/thresholds: at {} bytes, the number of directions differs from the number of changes", threshold.at_bytes));
  }
  for (std::size_t i = 0; i < threshold.changes.size(); ++i) {
    threshold.changes[i].direction = (*entry.directions)[i];
    threshold.changes[i].fails = entry.fails.value_or(false);
  }
}

void to_json(Json& json, const SeenRange& range) {
  const MetricRow& row = row_of(range.metric);
  RangeEntry entry{range.point, range.call, dotted_key(row), range.runs, {}, {}, {}, {}};
  if (row.kind == MetricKind::kWord) {
    entry.words = range.words;
  } else if (row.kind == MetricKind::kSystemCalls) {
    entry.calls = range.calls;
  } else {
    entry.low = range.number.low;
    entry.high = range.number.high;
  }
  json = entry;
}

Json steady_json(const Point& point) {
  Json json{{"status", word_of(point.status)}};
  for (const Metric metric : kSteadyMetrics) add_value(point, row_of(metric), json);
  return json;
}

namespace {

/// The word in a baseline for ClockMode::kStopped.
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

SeenRange range_of(const RangeEntry& entry) {
  const auto metric = metric_of_key(entry.metric);
  if (!metric) throw std::invalid_argument(": unknown metric " + json_line(entry.metric));
  SeenRange range{{entry, entry.call, *metric}, entry.runs, {}, {}, {}};
  if (entry.low && entry.high) range.number = {*entry.low, *entry.high};
  range.number.check_fields();
  range.words = entry.words.value_or(std::vector<std::string>());
  range.calls = entry.calls.value_or(CallRanges());
  return range;
}

std::vector<SeenRange> ranges_of(const std::vector<JsonOf<RangeEntry>>& entries) {
  std::vector<SeenRange> ranges;
  for (const JsonOf<RangeEntry>& each : entries) {
    try {
      ranges.push_back(range_of(each.json.get<RangeEntry>()));
    } catch (const std::invalid_argument& problem) {
      throw std::invalid_argument(fmt::format("/ranges/{}{}", ranges.size(), problem.what()));
    }
  }
  return ranges;
}

std::vector<Point> points_of(const std::vector<JsonOf<KeptPoint>>& entries, std::uint64_t page) {
  std::vector<Point> points;
  for (const JsonOf<KeptPoint>& each : entries) {
    const std::string place = fmt::format("/points/{}", points.size());
    try {
      const Point& point = points.emplace_back(point_from_json(each.json, page));
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

/// Returns a condition in words.
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
      Program& program = programs.emplace_back(each.get<Program>());
      program.name = printable(program.name);
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
  BaselineEntry entry;
  entry.allocator = baseline.allocator;
  entry.version = baseline.version;
  entry.env = baseline.env;
  entry.measured_on = baseline.measured_on;
  if (baseline.clock == ClockMode::kStopped) entry.conditions = MeasuringConditions{kStopped};
  for (const Point& point : baseline.points) entry.points.push_back({point_to_json(point)});
  entry.thresholds = baseline.thresholds;
  entry.uncertain = baseline.uncertain;
  for (const SeenRange& range : baseline.ranges) entry.ranges.push_back({range});
  entry.by_the_clock = baseline.by_the_clock;
  return entry;
}

Baseline baseline_from_json(const Json& json) {
  auto entry = json.get<BaselineEntry>();
  Baseline baseline;
  baseline.allocator = std::move(entry.allocator);
  baseline.version = std::move(entry.version);
  baseline.env = std::move(entry.env);
  baseline.measured_on = std::move(entry.measured_on);
  if (entry.conditions && entry.conditions->clock == kStopped) baseline.clock = ClockMode::kStopped;
  baseline.points = points_of(entry.points, page_bytes_of(baseline.measured_on));
  baseline.thresholds = std::move(entry.thresholds);
  baseline.uncertain = std::move(entry.uncertain);
  baseline.ranges = ranges_of(entry.ranges);
  baseline.by_the_clock = std::move(entry.by_the_clock);
  return baseline;
}

BaselineConditions conditions_of(const Environment& environment) {
  return {environment.kernel,
          environment.cpu,
          environment.thp,
          Json(environment.cpus),
          Json(environment.page_bytes),
          Json(environment.libc),
          Json(environment.pagemap_scan),
          ZEROTAX_VERSION};
}

void to_json(Json& json, const ProgramSites& sites) {
  json = Json::array();
  for (const auto& [key, site] : sites) json.push_back(SiteEntry{key, site});
}
void from_json(const Json& json, ProgramSites& sites) {
  for (const auto& each : json.get<std::vector<SiteEntry>>()) sites.emplace(each, each);
}

ProgramConditions conditions_now(const std::string& allocator) {
  const Environment environment = describe_environment();
  const std::string libc = condition(environment.libc);
  const std::string called = file_name(allocator).starts_with("libc.so") ? libc : allocator;
  return {condition(environment.kernel),
          condition(environment.thp),
          libc,
          can_fix_layout() ? "fixed layout" : "random layout",
          called.empty() ? "unknown" : called,
          condition(environment.cpus),
          condition(environment.page_bytes),
          ZEROTAX_VERSION};
}

Baseline read_baseline(const std::string& path) {
  return read_undamaged(path, "baseline", "make a new baseline with `zerotax bless`", baseline_from_json);
}

std::vector<Program> read_programs(const std::string& path) {
  return read_undamaged(path, "program_baseline", "make a new baseline with `zerotax bless --baseline FILE -- COMMAND`",
                        programs_from_json);
}

}  // namespace zerotax::baseline
