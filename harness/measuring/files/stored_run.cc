#include "files/stored_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "base/json.h"
#include "files/document.h"
#include "files/results.h"
#include "os/environment.h"
#include "os/input_file.h"
#include "point/point_document.h"
#include "point/typed_point.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRemedy = "give a results folder, or a file of zerotax run --json";
constexpr const char* kDamaged = "measure it again";
constexpr const char* kMeasureEdgesAgain = "delete it, or measure again: zerotax study --resume";

/// Reads a point and checks it: it must match its schema, its metrics must agree, and its key must be new.
Point checked_point(const Json& json, const std::string& where, std::set<std::string>& keys, std::uint64_t page) {
  Point point;
  try {
    point = point_from_json(json, page);
  } catch (const std::invalid_argument& problem) {
    throw UsageError(fmt::format("{} is damaged: {}", where, problem.what()), kDamaged);
  }
  if (const std::string problem = contradiction_in(point); !problem.empty()) {
    throw UsageError(fmt::format("{} is damaged: {}", where, problem), kDamaged);
  }
  const std::string key = key_of(point);
  if (!keys.insert(key).second) {
    throw UsageError(fmt::format("{} is damaged: the point {} occurs twice", where, key), kDamaged);
  }
  return point;
}

/// The path of the points' file. Throws UsageError unless the file lies beside run.json.
std::string points_file(const RunParts& run, const fs::path& folder, const std::string& file) {
  const std::string name = run.points_file.value_or(kPointsFile);
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) {
    throw UsageError(fmt::format("{} is damaged: /points_file: '{}' is not the name of a file beside it", file, name),
                     kDamaged);
  }
  return (folder / name).string();
}

/// The points that a run's document contains itself.
std::vector<Point> points_within(const RunParts& run, const std::string& file) {
  std::vector<Point> points;
  std::set<std::string> keys;
  const std::uint64_t page = page_bytes_of(run.environment);
  for (const Json& point : *run.points) {
    points.push_back(checked_point(point, fmt::format("{} /points/{}", file, points.size()), keys, page));
  }
  return points;
}

RunParts read_run(const std::string& file, const std::string& remedy) {
  return read_document(file, "run", remedy).get<RunParts>();
}

StoredRun run_of(const RunParts& run, const std::string& file) {
  StoredRun stored;
  stored.environment = run.environment;
  if (run.environments) stored.environments = *run.environments;
  stored.comparable_times = run.comparable_times;
  stored.files = {file};
  return stored;
}

/// Reads the files beside the points of a results folder.
void add_beside(const fs::path& folder, StoredRun& stored) {
  const std::string controls = (folder / "controls.jsonl").string();
  if (is_there(controls)) {
    stored.controls = read_stored_points(controls, true, page_bytes_of(stored.environment));
    stored.files.push_back(controls);
  }
  const std::string thresholds = (folder / "thresholds.json").string();
  if (is_there(thresholds)) {
    stored.thresholds = read_document(thresholds, "thresholds", "delete it, or search again: zerotax study --resume");
    stored.files.push_back(thresholds);
  }
  const std::string edges = (folder / kEdgesFile).string();
  if (is_there(edges)) {
    const RunParts run = read_run(edges, kMeasureEdgesAgain);
    if (!run.points) throw UsageError(edges + " contains no points", kMeasureEdgesAgain);
    stored.edges = points_within(run, edges);
    stored.files.push_back(edges);
  }
}

}  // namespace

std::vector<Point> read_stored_points(const std::string& file, bool by_host, std::uint64_t page) {
  const std::string text = read_input_file(file);
  std::vector<Point> points;
  std::map<std::string, std::set<std::string>> keys;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    const std::string where = fmt::format("{} line {}", file, points.size() + 1);
    Json json;
    try {
      json = parse_strict_json(std::string_view(text).substr(begin, end - begin));
    } catch (const JsonTextError& failure) {
      throw UsageError(fmt::format("{} {}", where, failure.what()), kDamaged);
    }
    check_document(json, where, "point", kDamaged);
    points.push_back(checked_point(json, where, keys[by_host ? text_field(json, "host", "") : ""], page));
    begin = end + 1;
  }
  return points;
}

StoredRun read_all_but_points(const std::string& folder) {
  const std::string file = folder + "/run.json";
  StoredRun stored = run_of(read_run(file, kRemedy), file);
  add_beside(folder, stored);
  return stored;
}

StoredRun read_stored_run(const std::string& path) {
  std::error_code failure;
  const bool folder = fs::is_directory(path, failure);
  const std::string file = folder ? path + "/run.json" : path;
  const RunParts run = read_run(file, kRemedy);
  StoredRun stored = run_of(run, file);
  if (run.points) {
    stored.points = points_within(run, file);
  } else {
    const fs::path parent = fs::path(file).parent_path();
    stored.files.push_back(points_file(run, parent, file));
    stored.points = read_stored_points(stored.files.back(), false, page_bytes_of(run.environment));
    add_beside(parent, stored);
  }
  if (stored.points.empty()) {
    throw UsageError(fmt::format("{} has no points: nothing was measured", path),
                     "resume the run with --resume, or measure again");
  }
  return stored;
}

}  // namespace zerotax
