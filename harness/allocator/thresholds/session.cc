#include "thresholds/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/size.h"
#include "base/units.h"
#include "os/environment.h"
#include "os/utc.h"
#include "point/point_health.h"
#include "run/fleet/hosts.h"
#include "run/fleet/job_folder.h"
#include "run/interrupt.h"
#include "run/point_run.h"
#include "thresholds/document.h"
#include "thresholds/lane_work.h"

namespace zerotax::thresholds {
namespace {

/// Rounds of eight buffers each.
Repeats refill_repeats(std::uint64_t size) {
  const std::uint32_t ops = size <= kMiB ? 8 : 6;
  return {ops, ops, ops, ops, 0};
}

/// Behaviour can change up to the fifth call. Where a call takes long, blocks are mapped each time or kept, and a few
/// calls show which.
Repeats repeats_for(std::uint64_t size) {
  const std::uint32_t ops = size <= 4 * kMiB ? 8 : size <= 64 * kMiB ? 6 : size <= 256 * kMiB ? 4 : 3;
  return {ops, ops, ops, ops, 0};
}

}  // namespace

ThresholdSession::ThresholdSession(Plan plan, ThresholdAxes axes)
    : plan_(std::move(plan)),
      axes_(std::move(axes)),
      head_{kSchema, ZEROTAX_VERSION, utc_now(), {}, describe_environment()} {
  for (const Allocator& allocator : plan_.allocators) {
    for (const double touch : axes_.touches) {
      for (const std::string& thread : axes_.threads) {
        lanes_.push_back({allocator, touch, thread, false, {}, axes_.from, axes_.to});
      }
    }
  }
}

void ThresholdSession::resume(const Json& earlier, const std::string& file) {
  for (ThresholdLane& lane : lanes_) take_over(earlier, lane, axes_.case_name, file);
}

void ThresholdSession::search(ThresholdLane& lane, const Say& say) {
  std::size_t index = 0;
  while (plan_.allocators[index].name != lane.allocator.name) ++index;
  std::string failure;
  const auto probe = [&](std::uint64_t size) {
    say(fmt::format("{} touch {:g} {} at {}", lane.allocator.name, lane.touch, lane.thread, format_size(size)));
    const Repeats repeats = axes_.case_name == kRefillCase ? refill_repeats(size) : repeats_for(size);
    const Point point = audit_point(plan_, {index, axes_.case_name, size, lane.touch, lane.thread, repeats});
    if (failure.empty() && !is_healthy(point)) {
      failure = fmt::format("at {}: {}: {}", format_size(size), word_of(point.status),
                            point.reason.value_or("no reason is given"));
    }
    return signature_of(point);
  };
  ThresholdSearch found =
      find_thresholds(size_grid(axes_.from, axes_.to, axes_.per_octave), probe, found_for(lane.allocator.name));
  // Beside us, other allocators look through the lanes for theirs: nothing but the result changes.
  lane.failure = std::move(failure);
  lane.found = std::move(found);
  lane.searched = true;
}

std::set<std::uint64_t> ThresholdSession::found_for(const std::string& allocator) const {
  std::set<std::uint64_t> sizes;
  for (const ThresholdLane& lane : lanes_) {
    if (lane.allocator.name != allocator || !lane.searched) continue;
    for (const Threshold& threshold : lane.found.thresholds) {
      if (threshold.exact()) sizes.insert(threshold.at_bytes);
    }
  }
  return sizes;
}

Json ThresholdSession::json_of(const ThresholdLane& lane) const {
  return thresholds_json({head_, axes_.case_name, {}, {lane}});
}

int ThresholdSession::run(const std::function<void()>& on_lane, const fleet::Place& place, const SearchFolder& folder) {
  std::set<std::string> missing;
  for (const ThresholdLane& lane : lanes_) {
    if (!lane.searched) missing.insert(lane_key(lane));
  }
  const LaneWork work(*this);
  const bool whole =
      fleet::run(work, missing, place, {folder.results, folder.name, kLanesKind, lanes_json(plan_, axes_)},
                 [&](const std::string& key, const Json& result, const std::string& host) {
                   if (!host.empty()) {
                     const auto lane = std::find_if(lanes_.begin(), lanes_.end(),
                                                    [&](const auto& each) { return lane_key(each) == key; });
                     take_over(result, *lane, axes_.case_name, "a result of " + host);
                     lane->host = host;
                   }
                   if (on_lane) on_lane();
                 });
  if (!folder.results.empty()) add_hosts(folder);
  return whole ? 0 : interrupted();
}

void ThresholdSession::add_hosts(const SearchFolder& folder) {
  const fleet::Hosts hosts = fleet::read_hosts(fleet::JobFolder(folder.results, folder.name).hosts());
  for (const ThresholdLane& lane : lanes_) {
    const auto host = hosts.find(lane.host);
    if (host == hosts.end()) continue;
    if (environments_.is_null()) head_.environment = host->second;
    environments_[host->first] = host->second;
  }
}

Thresholds ThresholdSession::result() const { return {head_, axes_.case_name, environments_, lanes_}; }

Json ThresholdSession::json() const { return thresholds_json(result()); }

}  // namespace zerotax::thresholds
