#include "run/fleet/fleet.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "run/fleet/slurm_job.h"

namespace zerotax::fleet {

bool run(const Work& work, const std::set<std::string>& missing, const Place& place, const JobRequest& request,
         const OnResult& on_result) {
  if (missing.empty()) return true;
  if (place.slurm) return SlurmHosts(place, request).run(work, missing, on_result);
  return ThisHost().run(work, missing, on_result);
}

namespace {

constexpr double kSecondsOfShard = 120;
constexpr std::size_t kFewestShards = 8;
constexpr std::size_t kManyShards = 256;

struct Group {
  std::vector<std::size_t> items;  ///< indices of items in ascending order
  double seconds = 0;
};

/// Returns the groups in the order of their first items.
std::vector<Group> groups_of(const std::vector<Item>& items) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto [place, is_new] = places.emplace(items[i].group, groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].items.push_back(i);
    groups[place->second].seconds += items[i].seconds;
  }
  return groups;
}

std::size_t usual_count(const std::vector<Item>& items) {
  double seconds = 0;
  for (const Item& item : items) seconds += item.seconds;
  return std::clamp(static_cast<std::size_t>(std::ceil(seconds / kSecondsOfShard)), kFewestShards, kManyShards);
}

}  // namespace

Shards cut_into_shards(const std::vector<Item>& items, std::size_t count) {
  std::vector<Group> groups = groups_of(items);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& one, const Group& other) { return one.seconds > other.seconds; });
  const std::size_t shards = std::min(count == 0 ? usual_count(items) : count, groups.size());
  std::vector<Group> parts(shards);
  for (const Group& group : groups) {
    Group& least = *std::min_element(parts.begin(), parts.end(),
                                     [](const Group& one, const Group& other) { return one.seconds < other.seconds; });
    least.items.insert(least.items.end(), group.items.begin(), group.items.end());
    least.seconds += group.seconds;
  }
  Shards keys;
  for (Group& part : parts) {
    std::sort(part.items.begin(), part.items.end());
    std::vector<std::string>& shard = keys.emplace_back();
    for (const std::size_t item : part.items) shard.push_back(items[item].key);
  }
  return keys;
}

bool ThisHost::run(const Work& work, const std::set<std::string>& missing, const OnResult& on_result) {
  std::vector<Item> items;
  for (Item& item : work.items()) {
    if (missing.contains(item.key)) items.push_back(std::move(item));
  }
  const auto on_finished = [&](const Item& item) { on_result(item.key, item.result(), ""); };
  return Experiment(work.title(), {side_by_side_, work.is_timed(), on_finished}).run(items);
}

}  // namespace zerotax::fleet
