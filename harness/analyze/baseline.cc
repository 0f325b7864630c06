#include "analyze/baseline.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/size.h"

namespace zerotax {
namespace {

constexpr const char* kSchema = "zerotax.baseline/1";
constexpr std::initializer_list<const char*> kIdentity = {"case", "size_bytes", "touch", "thread"};
constexpr std::initializer_list<const char*> kSteady = {"status",          "zeroed_bytes",  "redundant_zeroed_bytes",
                                                        "populated_bytes", "zeroed_method", "calloc_syscalls",
                                                        "free_syscalls",   "home"};
// Of single calls only what no timer can change: some allocators give memory back by the clock.
constexpr std::initializer_list<const char*> kEarly = {"zeroed_bytes", "redundant_zeroed_bytes"};

Json selected(const Json& from, std::initializer_list<const char*> keys) {
  Json json = Json::object();
  for (const char* key : keys) json[key] = from.at(key);
  return json;
}

Json point_baseline(const Json& point) {
  Json json = selected(point, kIdentity);
  json.update(selected(point, kSteady));
  json["first_ops"] = Json::array();
  for (const Json& op : point.at("first_ops")) json["first_ops"].push_back(selected(op, kEarly));
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

void compare_figure(const std::string& where, const Json& before, const Json& after, std::vector<std::string>& lines) {
  if (before == after || is_not_available(before) || is_not_available(after)) return;
  lines.push_back(fmt::format("{}: before {}, now {}", where, before.dump(), after.dump()));
}

void compare_points(const Json& before, const Json& after, std::vector<std::string>& lines) {
  const std::string name = point_name(before);
  for (const char* key : kSteady) compare_figure(name + ", " + key, before.at(key), after.at(key), lines);
  const std::size_t ops = std::min(before.at("first_ops").size(), after.at("first_ops").size());
  for (std::size_t i = 0; i < ops; ++i) {
    for (const char* key : kEarly) {
      compare_figure(fmt::format("{}, call {}, {}", name, i + 1, key), before.at("first_ops").at(i).at(key),
                     after.at("first_ops").at(i).at(key), lines);
    }
  }
}

/// Thresholds are matched by size: one that is gone, one that is new, one that means something else.
void compare_thresholds(const Json& before, const Json& after, std::vector<std::string>& lines) {
  const auto find = [](const Json& list, const Json& at) {
    return std::find_if(list.begin(), list.end(), [&](const Json& entry) { return entry.at("at_bytes") == at; });
  };
  for (const Json& entry : before) {
    const auto found = find(after, entry.at("at_bytes"));
    if (found == after.end()) {
      lines.push_back(fmt::format("the threshold at {} bytes is gone: {}", entry.at("at_bytes").dump(),
                                  entry.at("changes").dump()));
    } else {
      compare_figure(fmt::format("the threshold at {} bytes", entry.at("at_bytes").dump()), entry.at("changes"),
                     found->at("changes"), lines);
    }
  }
  for (const Json& entry : after) {
    if (find(before, entry.at("at_bytes")) != before.end()) continue;
    lines.push_back(fmt::format("there is a new threshold at {} bytes: {}", entry.at("at_bytes").dump(),
                                entry.at("changes").dump()));
  }
}

}  // namespace

Json baseline_json(const Allocator& allocator, const std::vector<Json>& points, const ThresholdSearch& thresholds,
                   const Json& environment) {
  Json json;
  json["schema"] = kSchema;
  json["allocator"] = allocator.name;
  json["version"] = version_json(allocator);
  json["env"] = allocator_json(allocator)["env"];
  json["measured_on"] = {
      {"kernel", environment.at("kernel")}, {"cpu", environment.at("cpu")}, {"thp", environment.at("thp")}};
  json["points"] = Json::array();
  for (const Json& point : points) json["points"].push_back(point_baseline(point));
  json["thresholds"] = Json::array();
  for (const Threshold& threshold : thresholds.thresholds) {
    if (!threshold.exact()) continue;
    json["thresholds"].push_back(
        {{"at_bytes", threshold.at_bytes}, {"changes", describe_change(threshold.below, threshold.above)}});
  }
  return json;
}

Json agreed_baseline(const Json& one, const Json& other) {
  const auto agree = [](Json& figure, const Json& second) {
    if (figure != second) figure = not_available("not the same each time it was measured");
  };
  Json agreed = one;
  for (Json& point : agreed["points"]) {
    const auto second = std::find_if(other.at("points").begin(), other.at("points").end(),
                                     [&](const Json& entry) { return is_same_point(point, entry); });
    if (second == other.at("points").end()) continue;
    for (const char* key : kSteady) agree(point[key], second->at(key));
    const std::size_t ops = std::min(point.at("first_ops").size(), second->at("first_ops").size());
    for (std::size_t i = 0; i < ops; ++i) {
      for (const char* key : kEarly) agree(point["first_ops"][i][key], second->at("first_ops").at(i).at(key));
    }
  }
  agreed["thresholds"] = Json::array();
  for (const Json& threshold : one.at("thresholds")) {
    const Json& others = other.at("thresholds");
    if (std::find(others.begin(), others.end(), threshold) != others.end()) agreed["thresholds"].push_back(threshold);
  }
  return agreed;
}

void check_baseline(const Json& baseline, const std::string& file) {
  const std::string schema = text_field(baseline, "schema", "none");
  if (schema != kSchema || !baseline.contains("points") || !baseline.contains("thresholds")) {
    throw UsageError(fmt::format("{} is no baseline (schema '{}', not '{}')", file, schema, kSchema),
                     "make one with `zerotax bless`");
  }
}

std::vector<std::string> compare_baselines(const Json& before, const Json& after) {
  std::vector<std::string> lines;
  for (const Json& old_point : before.at("points")) {
    const auto found = std::find_if(after.at("points").begin(), after.at("points").end(),
                                    [&](const Json& point) { return is_same_point(old_point, point); });
    if (found == after.at("points").end()) {
      lines.push_back(point_name(old_point) + " is not measured any more");
    } else {
      compare_points(old_point, *found, lines);
    }
  }
  compare_thresholds(before.at("thresholds"), after.at("thresholds"), lines);
  return lines;
}

}  // namespace zerotax
