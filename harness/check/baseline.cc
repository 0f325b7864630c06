#include "check/baseline.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/size.h"
#include "base/units.h"
#include "core/metric_json.h"
#include "core/point_health.h"

namespace zerotax::check {

using thresholds::describe_change;
using thresholds::tells_of_failing;
using thresholds::Threshold;
using thresholds::ThresholdSearch;
namespace {

constexpr const char* kSchema = "zerotax.baseline/1";
constexpr std::initializer_list<const char*> kIdentity = {"case", "size_bytes", "touch", "thread"};
// Of the steady state, beside the status.
constexpr std::initializer_list<Metric> kSteady = {
    Metric::kZeroedBytes,  Metric::kRedundantZeroedBytes, Metric::kPopulatedBytes,
    Metric::kZeroedMethod, Metric::kCallocSyscalls,       Metric::kFreeSyscalls,
    Metric::kHome,         Metric::kZeroedInFreeBytes,    Metric::kRedundantZeroedInFreeBytes};
// Of single calls only what no timer can change: some allocators give memory back by the clock.
constexpr std::initializer_list<Metric> kEarly = {Metric::kZeroedBytes, Metric::kRedundantZeroedBytes};

/// The keys of a point of a baseline that are compared.
std::vector<const char*> steady_keys() {
  std::vector<const char*> keys{"status"};
  for (const Metric metric : kSteady) keys.push_back(row_of(metric).key);
  return keys;
}

/// What says which point of a baseline it is.
Json identity_of(const Json& point) {
  Json json = Json::object();
  for (const char* key : kIdentity) json[key] = point.at(key);
  return json;
}

Json point_baseline(const Point& point) {
  Json json{{"case", point.case_name}, {"size_bytes", point.size_bytes}, {"touch", point.touch}};
  json["thread"] = point.thread;
  json["status"] = word_of(point.status);
  for (const Metric metric : kSteady) add_value(point, row_of(metric), json);
  json["first_ops"] = Json::array();
  for (const FirstOperation& operation : point.first_ops) {
    Json& entry = json["first_ops"].emplace_back(Json::object());
    for (const Metric metric : kEarly) add_value(operation, row_of(metric), entry);
  }
  return json;
}

std::string point_name(const Json& point) {
  return fmt::format("{} {} touch {:g} {}", point.at("case").get<std::string>(),
                     format_size(point.at("size_bytes").get<std::uint64_t>()), point.at("touch").get<double>(),
                     point.at("thread").get<std::string>());
}

bool is_same_point(const Json& one, const Json& other) {
  return std::all_of(kIdentity.begin(), kIdentity.end(), [&](const char* key) { return one.at(key) == other.at(key); });
}

/// The same point of another baseline, or nullptr.
const Json* twin_of(const Json& point, const Json& baseline) {
  const Json& points = baseline.at("points");
  const auto found =
      std::find_if(points.begin(), points.end(), [&](const Json& other) { return is_same_point(point, other); });
  return found == points.end() ? nullptr : &*found;
}

using Changes = std::vector<BaselineChange>;

void compare_figure(const Json& point, const std::string& where, const Json& before, const Json& after,
                    Changes& changes) {
  if (before == after || is_not_available(before) || is_not_available(after)) return;
  changes.push_back({point, 0, where, fmt::format("{}: before {}, now {}", where, before.dump(), after.dump())});
}

/// A figure that one of them has no key for was not measured then: no difference.
void compare_key(const Json& point, const std::string& where, const char* key, const Json& before, const Json& after,
                 Changes& changes) {
  if (!before.contains(key) || !after.contains(key)) return;
  compare_figure(point, fmt::format("{}, {}", where, key), before.at(key), after.at(key), changes);
}

void compare_points(const Json& before, const Json& after, Changes& changes) {
  const std::string name = point_name(before);
  const Json point = identity_of(before);
  for (const char* key : steady_keys()) compare_key(point, name, key, before, after, changes);
  const std::size_t ops = std::min(before.at("first_ops").size(), after.at("first_ops").size());
  for (std::size_t i = 0; i < ops; ++i) {
    for (const Metric metric : kEarly) {
      compare_key(point, fmt::format("{}, call {}", name, i + 1), row_of(metric).key, before.at("first_ops").at(i),
                  after.at("first_ops").at(i), changes);
    }
  }
}

/// Thresholds are matched by size: one that is gone, one that is new, one that means something else.
void compare_thresholds(const Json& before, const Json& after, Changes& changes) {
  const auto find = [](const Json& list, const Json& at) {
    return std::find_if(list.begin(), list.end(), [&](const Json& entry) { return entry.at("at_bytes") == at; });
  };
  const auto name = [](const Json& entry) {
    return fmt::format("the threshold at {} bytes", entry.at("at_bytes").dump());
  };
  for (const Json& entry : before) {
    const auto found = find(after, entry.at("at_bytes"));
    if (found == after.end()) {
      changes.push_back({nullptr, entry.at("at_bytes"), name(entry),
                         fmt::format("{} is gone: {}", name(entry), entry.at("changes").dump())});
    } else if (entry.at("changes") != found->at("changes")) {
      changes.push_back(
          {nullptr, entry.at("at_bytes"), name(entry),
           fmt::format("{}: before {}, now {}", name(entry), entry.at("changes").dump(), found->at("changes").dump())});
    }
  }
  for (const Json& entry : after) {
    if (find(before, entry.at("at_bytes")) != before.end()) continue;
    changes.push_back({nullptr, entry.at("at_bytes"), name(entry),
                       fmt::format("there is a new threshold at {} bytes: {}", entry.at("at_bytes").dump(),
                                   entry.at("changes").dump())});
  }
}

/// The word of a baseline for ClockMode::kStopped.
constexpr const char* kStopped = "stopped";

}  // namespace

Json baseline_json(const Allocator& allocator, const std::vector<Point>& points, const ThresholdSearch& thresholds,
                   const Json& environment, ClockMode clock) {
  Json json;
  json["schema"] = kSchema;
  json["allocator"] = allocator.name;
  json["version"] = version_json(allocator);
  json["env"] = allocator_json(allocator)["env"];
  json["measured_on"] = {
      {"kernel", environment.at("kernel")}, {"cpu", environment.at("cpu")}, {"thp", environment.at("thp")}};
  if (clock == ClockMode::kStopped) json["conditions"] = {{"clock", kStopped}};
  json["points"] = Json::array();
  for (const Point& point : points) json["points"].push_back(point_baseline(point));
  json["thresholds"] = Json::array();
  for (const Threshold& threshold : thresholds.thresholds) {
    if (!threshold.exact()) continue;
    json["thresholds"].push_back(
        {{"at_bytes", threshold.at_bytes}, {"changes", describe_change(threshold.below, threshold.above)}});
  }
  return json;
}

ClockMode baseline_clock(const Json& baseline) {
  const auto conditions = baseline.find("conditions");
  if (conditions == baseline.end()) return ClockMode::kReal;
  return text_field(*conditions, "clock", "") == kStopped ? ClockMode::kStopped : ClockMode::kReal;
}

Json agreed_baseline(const Json& one, const Json& other, const std::string& why) {
  const auto agree = [&](Json& figures, const Json& second, const char* key) {
    if (!figures.contains(key) || !second.contains(key) || figures.at(key) == second.at(key)) return;
    if (!is_not_available(figures.at(key))) figures[key] = not_available(why);
  };
  Json agreed = one;
  for (Json& point : agreed["points"]) {
    const Json* second = twin_of(point, other);
    if (second == nullptr) continue;
    for (const char* key : steady_keys()) agree(point, *second, key);
    const std::size_t ops = std::min(point.at("first_ops").size(), second->at("first_ops").size());
    for (std::size_t i = 0; i < ops; ++i) {
      for (const Metric metric : kEarly) {
        agree(point["first_ops"][i], second->at("first_ops").at(i), row_of(metric).key);
      }
    }
  }
  if (!other.contains("thresholds")) return agreed;
  agreed["thresholds"] = Json::array();
  for (const Json& threshold : one.at("thresholds")) {
    const Json& others = other.at("thresholds");
    if (std::find(others.begin(), others.end(), threshold) != others.end()) agreed["thresholds"].push_back(threshold);
  }
  return agreed;
}

void check_baseline(const Json& baseline, const std::string& file) {
  const std::string schema = text_field(baseline, "schema", "none");
  if (schema != kSchema) {
    throw UsageError(fmt::format("{} is no baseline (schema '{}', not '{}')", file, schema, kSchema),
                     "make one with `zerotax bless`");
  }
}

std::vector<BaselineChange> compare_baselines(const Json& before, const Json& after) {
  Changes changes;
  for (const Json& old_point : before.at("points")) {
    if (const Json* found = twin_of(old_point, after)) compare_points(old_point, *found, changes);
  }
  if (before.contains("thresholds") && after.contains("thresholds")) {
    compare_thresholds(before.at("thresholds"), after.at("thresholds"), changes);
  }
  return changes;
}

std::vector<BaselineChange> points_not_measured(const Json& before, const Json& after) {
  Changes missing;
  for (const Json& point : before.at("points")) {
    if (twin_of(point, after) != nullptr) continue;
    const std::string name = point_name(point);
    missing.push_back({identity_of(point), 0, name, name + " is not measured any more"});
  }
  return missing;
}

std::vector<std::string> failing_in_baseline(const Json& baseline) {
  std::vector<std::string> lines;
  for (const Json& point : baseline.at("points")) {
    if (!is_healthy(point)) lines.push_back(fmt::format("{}: {}", point_name(point), text_field(point, "status", "")));
  }
  for (const Json& threshold : baseline.value("thresholds", Json::array())) {
    for (const Json& change : threshold.at("changes")) {
      if (!tells_of_failing(change.get<std::string>())) continue;
      lines.push_back(fmt::format("from {} bytes on: {}", threshold.at("at_bytes").dump(), change.get<std::string>()));
    }
  }
  return lines;
}

}  // namespace zerotax::check
