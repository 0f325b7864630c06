#include "compare/run_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "run/allocators.h"

namespace zerotax::compare {
namespace {

namespace fs = std::filesystem;
constexpr const char* kRemedy = "give a results folder, its run.json, or what `zerotax run --json` wrote";

std::set<std::string> allocators_of(const RunFile& run) {
  std::set<std::string> names;
  for (const Point& point : run.points) names.insert(point.allocator);
  return names;
}

ComparedPoint start(const Point& point) {
  ComparedPoint compared;
  compared.case_name = point.case_name;
  compared.size_bytes = point.size_bytes;
  compared.touch = point.touch;
  compared.thread = point.thread;
  return compared;
}

std::string key_of(const Point& point, bool by_allocator) {
  return (by_allocator ? point.allocator + "/" : "") + compared_key(start(point));
}

/// The metrics of every point that runs of every version have.
void check_figures(const RunFile& run) {
  for (const Point& point : run.points) {
    if (!point.is_ok()) continue;
    for (const Metric metric : {Metric::kZeroedBytes, Metric::kRedundantZeroedBytes, Metric::kSyscalls,
                                Metric::kCallocFaults, Metric::kTouchFaults, Metric::kFreeFaults}) {
      if (!point[metric].is_absent()) continue;
      throw UsageError(fmt::format("a point of {} is damaged: it has no {}", run.path, row_of(metric).key), kRemedy);
    }
  }
}

}  // namespace

bool is_run_file(const std::string& word) {
  // A name of an allocator never means a folder of that name.
  const auto& builtin = builtin_allocators();
  if (std::any_of(builtin.begin(), builtin.end(), [&](const auto& each) { return each.name == word; })) return false;
  std::error_code failure;
  if (fs::is_directory(word, failure)) return true;
  if (!fs::is_regular_file(word, failure)) return word.ends_with(".json");
  std::ifstream file(word, std::ios::binary);
  std::array<char, 4> magic{};
  file.read(magic.data(), magic.size());
  return std::string_view(magic.data(), magic.size()) !=
         "\x7f"
         "ELF";
}

RunFile read_run_file(const std::string& path) { return {read_stored_run(path), path}; }

const Json& RunFile::environment_of(const Point& point) const {
  const auto found = environments.find(point.host.value_or(""));
  return found == environments.end() ? environment : found->second;
}

std::vector<ComparedPoint> compare_run_files(const RunFile& before, const RunFile& after, Cost cost) {
  check_figures(before);
  check_figures(after);
  const auto old_names = allocators_of(before);
  const auto new_names = allocators_of(after);
  const bool by_name = old_names.size() != 1 || new_names.size() != 1;
  std::vector<ComparedPoint> points;
  std::map<std::string, std::size_t> places;
  std::vector<const Json*> old_environments;
  for (const Point& point : before.points) {
    old_environments.push_back(&before.environment_of(point));
    ComparedPoint& compared = points.emplace_back(start(point));
    if (!places.emplace(key_of(point, by_name), points.size() - 1).second) {
      throw UsageError(fmt::format("{} has the point {} twice", before.path, key_of(point, by_name)), kRemedy);
    }
    compared.before.allocator = compared.after.allocator = point.allocator;
    compared.after.invalid = "not in NEW";
    add_figures(point, true, cost, compared.before);
  }
  for (const Point& point : after.points) {
    const auto place = places.find(key_of(point, by_name));
    if (place == places.end()) {
      ComparedPoint& compared = points.emplace_back(start(point));
      compared.before.allocator = point.allocator;
      compared.before.invalid = "not in OLD";
      compared.after.allocator = point.allocator;
      continue;
    }
    points[place->second].invalid = differing_conditions(*old_environments[place->second], after.environment_of(point));
    ComparedSide& side = points[place->second].after;
    side.invalid.clear();
    side.allocator = point.allocator;
    add_figures(point, true, cost, side);
  }
  return points;
}

}  // namespace zerotax::compare
