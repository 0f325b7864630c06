#include "thresholds/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "base/size.h"
#include "base/units.h"
#include "core/audit_point.h"
#include "core/fleet/hosts.h"
#include "core/fleet/job_folder.h"
#include "core/interrupt.h"
#include "core/memory_guard.h"
#include "core/point_health.h"
#include "core/progress.h"
#include "core/results.h"
#include "core/side_by_side.h"
#include "os/environment.h"
#include "thresholds/lane_work.h"

namespace zerotax::thresholds {
namespace {

/// Rounds of eight buffers each.
Repeats refill_repeats(std::uint64_t size) {
  const std::uint32_t ops = size <= kMiB ? 8 : 6;
  return {ops, ops, ops, ops, 0};
}

/// Behaviour can change up to the fifth call; where a call takes long, blocks are mapped anew or kept, and a few show
/// which.
Repeats repeats_for(std::uint64_t size) {
  const std::uint32_t ops = size <= 4 * kMiB ? 8 : size <= 64 * kMiB ? 6 : size <= 256 * kMiB ? 4 : 3;
  return {ops, ops, ops, ops, 0};
}

}  // namespace

ThresholdSession::ThresholdSession(Plan plan, ThresholdAxes axes)
    : plan_(std::move(plan)), axes_(std::move(axes)), started_(utc_now()), environment_(describe_environment()) {
  for (const Allocator& allocator : plan_.allocators) {
    for (const double touch : axes_.touches) {
      for (const std::string& thread : axes_.threads) lanes_.push_back({allocator, touch, thread, false, {}});
    }
  }
}

void ThresholdSession::resume(const Json& earlier, const std::string& file) {
  for (ThresholdLane& lane : lanes_) take_over(earlier, lane, axes_.case_name, axes_.from, axes_.to, file);
}

void ThresholdSession::search(ThresholdLane& lane, const std::function<void(std::uint64_t size)>& on_probe) {
  std::size_t index = 0;
  while (plan_.allocators[index].name != lane.allocator.name) ++index;
  lane.found = find_thresholds(size_grid(axes_.from, axes_.to, axes_.per_octave), [&](std::uint64_t size) {
    on_probe(size);
    const Repeats repeats = axes_.case_name == kRefillCase ? refill_repeats(size) : repeats_for(size);
    const Point point =
        audit_point(plan_, {index, axes_.case_name, size, lane.touch, lane.thread, repeats}, stop_requested);
    if (stop_requested()) throw SearchInterrupted{};
    if (lane.failure.empty() && !is_healthy(point)) {
      lane.failure = fmt::format("at {}: {}: {}", format_size(size), word_of(point.status),
                                 point.reason.value_or("no reason is given"));
    }
    return signature_of(point);
  });
  lane.searched = true;
}

void ThresholdSession::search_lanes(const std::set<std::string>& keys, const fleet::WorkHooks& hooks) {
  std::vector<ThresholdLane*> missing;
  for (ThresholdLane& lane : lanes_) {
    if (keys.contains(lane_key(lane))) missing.push_back(&lane);
  }
  // What is touched is populated, and takes longest: that first, so that no long lane is left alone at the end.
  std::stable_sort(missing.begin(), missing.end(),
                   [](const ThresholdLane* one, const ThresholdLane* other) { return one->touch > other->touch; });
  Progress progress("searching lanes", missing.size(), static_cast<double>(missing.size()));
  std::mutex lock;
  const std::size_t fit = audits_side_by_side(memory_needed({0, axes_.case_name, axes_.to, 1, "main", {}}));
  const std::size_t workers = hooks.side_by_side == 0 ? fit : std::min(fit, hooks.side_by_side);
  run_side_by_side(missing.size(), workers, [&](std::size_t i) {
    ThresholdLane lane = *missing[i];
    search(lane, [&](std::uint64_t size) {
      const std::scoped_lock held(lock);
      progress.show(
          fmt::format("{} touch {:g} {} at {}", lane.allocator.name, lane.touch, lane.thread, format_size(size)));
    });
    const std::scoped_lock held(lock);
    *missing[i] = std::move(lane);
    progress.advance(1);
    hooks.on_result(lane_key(*missing[i]),
                    thresholds_json({*missing[i]}, axes_.case_name, axes_.from, axes_.to, started_, environment_));
  });
}

int ThresholdSession::run(const std::function<void()>& on_lane, const fleet::Place& place, const SearchFolder& folder) {
  std::set<std::string> missing;
  for (const ThresholdLane& lane : lanes_) {
    if (!lane.searched) missing.insert(lane_key(lane));
  }
  LaneWork work(*this);
  const int signal =
      fleet::run(work, missing, place, {folder.results, folder.name, kLanesKind, lanes_json(plan_, axes_)},
                 [&](const std::string& key, const Json& result, const std::string& host) {
                   if (!host.empty()) {
                     const auto lane = std::find_if(lanes_.begin(), lanes_.end(),
                                                    [&](const auto& each) { return lane_key(each) == key; });
                     take_over(result, *lane, axes_.case_name, axes_.from, axes_.to, "a result of " + host);
                     lane->host = host;
                   }
                   if (on_lane) on_lane();
                 });
  if (!folder.results.empty()) add_hosts(folder);
  return signal;
}

void ThresholdSession::add_hosts(const SearchFolder& folder) {
  const fleet::Hosts hosts = fleet::read_hosts(fleet::JobFolder(folder.results, folder.name).hosts());
  for (const ThresholdLane& lane : lanes_) {
    const auto host = hosts.find(lane.host);
    if (host == hosts.end()) continue;
    if (environments_.is_null()) environment_ = host->second;
    environments_[host->first] = host->second;
  }
}

Json ThresholdSession::json() const {
  Json json = thresholds_json(lanes_, axes_.case_name, axes_.from, axes_.to, started_, environment_);
  if (environments_.is_object()) json["environments"] = environments_;
  return json;
}

}  // namespace zerotax::thresholds
