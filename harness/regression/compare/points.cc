#include "compare/points.h"

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
#include "run/experiment.h"
#include "run/point_run.h"

namespace zerotax::compare {
namespace {

/// Number of audits of each side: at first, and in addition after a difference. Two audits can by chance show a metric
/// as constant on each side, and different between sides. If half of the processes differ, the chance is an eighth;
/// with seven audits, the chance is 1 in 8,192.
constexpr unsigned kAudits = 2;
constexpr unsigned kAuditsAgain = 5;

bool differ(const ComparedPoint& point) {
  return point.before.invalid.empty() && point.after.invalid.empty() && point.before.work != point.after.work;
}

/// Audits both sides at the same time, every audit in a separate process. Returns false if a signal stopped the audits.
bool audit(const ComparePlan& plan, ComparedPoint& point, unsigned times, double seconds, Experiment& experiment) {
  Plan sides;
  sides.timeout_s = plan.timeout_s;
  sides.allocators = {plan.before, plan.after};
  std::vector<Point> found(std::size_t{2} * times);
  std::vector<Item> items;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const PointSpec spec{i % 2, point.case_name, point.size_bytes, point.touch, point.thread, {}};
    Item& item = items.emplace_back();
    item.label = compared_key(point);
    item.seconds = seconds;
    item.memory_bytes = memory_needed(spec);
    item.audit = [&sides, &found, spec, i](const Say&) { found[i] = audit_point(sides, spec); };
  }
  if (!experiment.run(items)) return false;
  for (std::size_t i = 0; i < found.size(); ++i) {
    ComparedSide& side = i % 2 == 0 ? point.before : point.after;
    if (side.invalid.empty()) add_figures(found[i], false, Cost::kTotal, side);
  }
  return true;
}

bool audit_all(const ComparePlan& plan, std::vector<ComparedPoint>& points) {
  Experiment experiment("auditing");
  const std::size_t audits = std::size_t{2} * kAudits * points.size();
  experiment.expect(audits, static_cast<double>(audits));
  for (ComparedPoint& point : points) {
    if (!audit(plan, point, kAudits, 1, experiment)) return false;
    // The number of repeated audits is unknown at first.
    if (differ(point) && !audit(plan, point, kAuditsAgain, 0, experiment)) return false;
  }
  return true;
}

void add_faults(ComparedPoint& point) {
  for (const CostPair& pair : point.pairs) {
    point.before.work.faults.push_back(pair.a_faults);
    point.after.work.faults.push_back(pair.b_faults);
  }
}

/// Names a library after its path: "new.so" becomes "new=new.so".
std::string named(const std::string& word) {
  std::error_code failure;
  const bool has_name = word.find('=') != std::string::npos;
  if (has_name || !std::filesystem::is_regular_file(word, failure)) return word;
  return std::filesystem::path(word).stem().string() + "=" + word;
}

std::string name_of(const std::string& word) { return word.substr(0, word.find('=')); }

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

/// Checks that every point has the metrics that runs of every version contain.
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

std::vector<ComparedPoint> planned_points(const ComparePlan& plan) {
  std::vector<ComparedPoint> points;
  for (const std::string& case_name : plan.axes.cases) {
    for (const std::uint64_t size : plan.axes.sizes) {
      for (const double touch : plan.axes.touches) {
        for (const std::string& thread : plan.axes.threads) {
          points.push_back(
              {case_name, size, touch, thread, {plan.before.name, "", {}, {}}, {plan.after.name, "", {}, {}}, {}, ""});
        }
      }
    }
  }
  return points;
}

bool measure_comparison(const ComparePlan& plan, std::vector<ComparedPoint>& points) {
  const PairedSetup setup{plan.before, plan.after, "main", plan.cost, plan.pairs, plan.timeout_s, plan.coins};
  points = planned_points(plan);
  if (!audit_all(plan, points)) return false;
  std::vector<PairedPlace> places;
  std::vector<ComparedPoint*> of_place;
  for (ComparedPoint& point : points) {
    if (!point.before.invalid.empty() || !point.after.invalid.empty()) continue;
    places.push_back({point.size_bytes, point.touch, 0, {}, {}, point.case_name, point.thread});
    of_place.push_back(&point);
  }
  const bool whole = run_pairs(setup, places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    of_place[i]->invalid = places[i].left_out;
    of_place[i]->pairs = std::move(places[i].pairs);
    add_faults(*of_place[i]);
  }
  return whole;
}

std::pair<Allocator, Allocator> resolve_sides(const std::string& before, const std::string& after,
                                              const std::vector<std::string>& env) {
  const std::string words[2] = {named(before), named(after)};
  const std::string sides[2] = {"old", "new"};
  std::vector<std::string> own[2];
  for (const std::string& entry : env) {
    const std::string name = entry.substr(0, entry.find(':'));
    bool used = false;
    for (std::size_t i = 0; i < 2; ++i) {
      if (name != sides[i] && name != name_of(words[i])) continue;
      own[i].push_back(name_of(words[i]) + entry.substr(std::min(entry.size(), name.size())));
      used = true;
    }
    if (!used) {
      throw UsageError(fmt::format("--env names '{}', which is not compared", name),
                       fmt::format("name old, new, {} or {}", name_of(words[0]), name_of(words[1])));
    }
  }
  return {resolve_allocators({words[0]}, own[0]).front(), resolve_allocators({words[1]}, own[1]).front()};
}

bool is_run_file(const std::string& word) {
  // The name of an allocator is never read as the name of a folder.
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
