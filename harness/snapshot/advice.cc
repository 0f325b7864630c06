#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/size.h"
#include "base/units.h"
#include "snapshot/document.h"

namespace zerotax::snapshot {
namespace {

using Results = std::vector<const Json*>;

/// Something that an alternative can have less of than another.
struct Range {
  double low, middle, high;
};
using Measure = std::function<Range(const Json&)>;

Measure spread_of(const char* key) {
  return [key](const Json& result) {
    const Json& spread = result.at(key);
    return Range{spread.at("p05"), spread.at("median"), spread.at("p95")};
  };
}

Range added_memory(const Json& result) {
  constexpr double kApart = 0.05;  // of one run: when the child gets how far is chance
  const auto bytes = static_cast<double>(added_bytes(result));
  return {bytes * (1 - kApart), bytes, bytes * (1 + kApart)};
}

std::string name_of(const Json& result) { return result.at("alternative"); }

/// What one has: fork, or else the first with a child. Null if there is neither.
const Json* what_one_has(const Results& snapshots) {
  const Json* first = nullptr;
  for (const Json* result : snapshots) {
    if (name_of(*result) == "fork") return result;
    if (first == nullptr && result->at("has_child") == true) first = result;
  }
  return first;
}

/// Less by this share at least: two runs of the same differ by some percent.
constexpr double kClearly = 0.95;

/// The name of the one with the least; of none if that is what one has, or not clearly better.
Json least(const Results& of, const Json* base, const Measure& measure) {
  if (of.size() < 2) return not_available("nothing else was measured");
  const Json* best = *std::min_element(of.begin(), of.end(), [&](const Json* one, const Json* other) {
    return measure(*one).middle < measure(*other).middle;
  });
  if (base != nullptr && (best == base || measure(*best).high >= measure(*base).low ||
                          measure(*best).middle > kClearly * measure(*base).middle)) {
    return not_available(fmt::format("nothing that was measured is clearly better than {}", name_of(*base)));
  }
  return name_of(*best);
}

Json least_memory(const Results& of, const Json* base) {
  for (const Json* result : of) {
    if (is_not_available(result->at("memory"))) return result->at("memory");
  }
  return least(of, base, added_memory);
}

/// The remedy that removes the faults after the child's end and saves the most CPU time.
Json best_remedy(const Results& snapshots) {
  const Json* best = nullptr;
  bool measured = false;
  for (const Json* result : snapshots) {
    const Json& remedy = result->at("remedy");
    if (is_not_available(remedy)) continue;
    measured = true;
    if (remedy.at("effect") != "removes") continue;
    if (best == nullptr || remedy.at("saved_ns") > best->at("remedy").at("saved_ns")) best = result;
  }
  if (best != nullptr) return name_of(*best);
  return not_available(measured ? "no remedy that was measured removes them" : "no remedy was measured");
}

/// Commands that measure what was not.
Json next_commands(const Json& snapshot, const Results& snapshots, const Json& remedy) {
  std::string size = format_given_size(snapshot.at("parameters").at("array_bytes"));
  std::erase(size, ' ');
  Json next = Json::array();
  const auto forks = [](const Json* result) { return result->at("has_child") == true; };
  if (std::all_of(snapshots.begin(), snapshots.end(), forks)) {
    next.push_back({{"command", fmt::format("zerotax snapshot --size {}", size)},
                    {"measures", "the alternatives to a forked child"}});
  }
  if (is_not_available(remedy) && std::any_of(snapshots.begin(), snapshots.end(), forks)) {
    next.push_back({{"command", fmt::format("zerotax snapshot --size {} --remedies", size)},
                    {"measures", "the remedies for the faults after the child's end"}});
  }
  return next;
}

Json advice_under(const Json& snapshot, const std::string& allocator, Results snapshots) {
  const Json* base = what_one_has(snapshots);
  // What writes more often, or by other threads, cannot be compared.
  if (base != nullptr) {
    std::erase_if(snapshots, [&](const Json* result) {
      return text_field(*result, "baseline", "none") != text_field(*base, "baseline", "none");
    });
  }
  Results with_child;
  for (const Json* result : snapshots) {
    if (result->at("has_child") == true) with_child.push_back(result);
  }
  // What is done after the child's end changes nothing before it.
  Results before_end = snapshots;
  std::erase_if(before_end, [&](const Json* result) {
    const std::string of = remedied_alternative(snapshot, *result);
    return std::any_of(snapshots.begin(), snapshots.end(), [&](const Json* each) { return name_of(*each) == of; });
  });
  Json advice{{"allocator", allocator}};
  advice["instead_of"] =
      base == nullptr ? not_available("no alternative with a child was measured") : Json(name_of(*base));
  advice["least_time"] = least(snapshots, base, spread_of("writers_wall_ns"));
  advice["shortest_stop"] = least(before_end, base, spread_of("stopped_ns"));
  advice["least_memory"] = least_memory(before_end, base);
  advice["least_time_with_child"] = least(with_child, base, spread_of("writers_wall_ns"));
  advice["no_faults_after_end"] = best_remedy(snapshots);
  advice["next"] = next_commands(snapshot, snapshots, advice["no_faults_after_end"]);
  return advice;
}

}  // namespace

bool took_snapshot(const Json& result) {
  return result.at("status") == "ok" && !is_not_available(result.at("checked_elements")) &&
         !is_not_available(result.at("writers_wall_ns")) && !is_not_available(result.at("stopped_ns"));
}

Json advice_json(const Json& snapshot) {
  std::vector<std::pair<std::string, Results>> by_allocator;
  for (const Json& result : snapshot.at("results")) {
    const std::string allocator = result.at("allocator");
    const auto found = std::find_if(by_allocator.begin(), by_allocator.end(),
                                    [&](const auto& entry) { return entry.first == allocator; });
    Results& of = found != by_allocator.end() ? found->second : by_allocator.emplace_back(allocator, Results()).second;
    if (took_snapshot(result)) of.push_back(&result);
  }
  Json advice = Json::array();
  for (const auto& [allocator, snapshots] : by_allocator) {
    if (!snapshots.empty()) advice.push_back(advice_under(snapshot, allocator, snapshots));
  }
  return advice;
}

}  // namespace zerotax::snapshot
