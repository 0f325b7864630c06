#include "compare/run_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "os/load.h"
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

/// What is measured of every point, in runs of every version.
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

/// Whether two amounts of memory are within 1 %. After each boot a machine has a few pages more or less.
bool are_alike(const std::string& what, const std::string& before, const std::string& after) {
  if (what != "memory_bytes" && what != "swap_bytes" && what != "cgroup_memory_limit_bytes") return false;
  double one = 0;
  double other = 0;
  const auto read = [](const std::string& text, double& number) {
    const char* const end = text.data() + text.size();
    return std::from_chars(text.data(), end, number).ptr == end;
  };
  return read(before, one) && read(after, other) && std::abs(one - other) <= std::max(one, other) / 100;
}

bool is_loaded(const Conditions& conditions) {
  return conditions.load && load_level(*conditions.load, conditions.cpus) == LoadLevel::kBusy;
}

}  // namespace

bool is_run_file(const std::string& word) {
  // A folder that happens to have an allocator's name is not meant.
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

std::string differing_conditions(const Conditions& before, const Conditions& after) {
  std::vector<std::string> differences;
  for (std::size_t i = 0; i < before.fixed.size(); ++i) {
    const auto& [what, value] = before.fixed[i];
    if (value == after.fixed[i].second || are_alike(what, value, after.fixed[i].second)) continue;
    differences.push_back(fmt::format("{}: {} and {}", what, value, after.fixed[i].second));
  }
  if (is_loaded(before) != is_loaded(after)) {
    differences.push_back(fmt::format("load: {} and {}", before.load_words, after.load_words));
  }
  return fmt::format("{}", fmt::join(differences, "; "));
}

std::vector<ComparedPoint> compare_run_files(const RunFile& before, const RunFile& after, Cost cost) {
  check_figures(before);
  check_figures(after);
  try {
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
      points[place->second].invalid = differing_conditions(read_conditions(*old_environments[place->second]),
                                                           read_conditions(after.environment_of(point)));
      ComparedSide& side = points[place->second].after;
      side.invalid.clear();
      side.allocator = point.allocator;
      add_figures(point, true, cost, side);
    }
    return points;
  } catch (const Json::exception& failure) {
    throw UsageError(fmt::format("the environment of {} or {} is damaged: {}", before.path, after.path, failure.what()),
                     kRemedy);
  }
}

}  // namespace zerotax::compare
