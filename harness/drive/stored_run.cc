#include "drive/stored_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "drive/output_file.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRemedy = "give a results folder, or a file of zerotax run --json";

/// Throws UsageError if the object is of another schema.
void check_schema(const Json& json, const char* schema, const std::string& file) {
  const std::string found = json.is_object() ? text_field(json, "schema", "none") : "none";
  if (found != schema) throw UsageError(fmt::format("{} has the schema '{}', not '{}'", file, found, schema), kRemedy);
}

/// What every reader of points takes for granted.
void check_point(const Json& point, const std::string& file) {
  bool good = point.is_object();
  for (const char* key : {"allocator", "case", "thread", "status"}) {
    good = good && point.contains(key) && point.at(key).is_string();
  }
  for (const char* key : {"size_bytes", "touch"}) good = good && point.contains(key) && point.at(key).is_number();
  good = good && point.contains("version") && point.contains("env") && point.at("env").is_object() &&
         point.contains("first_ops") && point.at("first_ops").is_array();
  if (!good) throw UsageError(fmt::format("{} is damaged: it has a point that is none", file), kRemedy);
}

std::vector<Json> read_lines(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw UsageError(fmt::format("cannot read {}", file), kRemedy);
  std::vector<Json> points;
  for (std::string line; std::getline(stream, line) && !stream.eof();) {
    points.push_back(Json::parse(line, nullptr, false));
    check_point(points.back(), file);
  }
  return points;
}

}  // namespace

StoredRun read_stored_run(const std::string& path) {
  const bool folder = fs::is_directory(path);
  const std::string file = folder ? path + "/run.json" : path;
  const Json run = read_json_file(file);
  check_schema(run, "zerotax.run/1", file);
  StoredRun stored;
  if (run.contains("environment")) stored.environment = run.at("environment");
  if (run.contains("points") && run.at("points").is_array()) {
    stored.points = run.at("points").get<std::vector<Json>>();
    for (const Json& point : stored.points) check_point(point, file);
    return stored;
  }
  const fs::path parent = fs::path(file).parent_path();
  stored.points = read_lines((parent / text_field(run, "points_file", "points.jsonl")).string());
  const std::string thresholds = (parent / "thresholds.json").string();
  if (fs::exists(thresholds)) {
    stored.thresholds = read_json_file(thresholds);
    check_schema(stored.thresholds, "zerotax.thresholds/1", thresholds);
  }
  return stored;
}

}  // namespace zerotax
