#include "thresholds/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "base/size.h"
#include "base/units.h"
#include "os/clock.h"
#include "os/environment.h"
#include "point/typed_point.h"
#include "run/fleet/fleet.h"
#include "run/fleet/hosts.h"
#include "run/fleet/job_folder.h"
#include "run/interrupt.h"
#include "run/planning.h"
#include "run/point_run.h"
#include "thresholds/document.h"

namespace zerotax::thresholds {

/// The lanes of a session as work; each result is an object of "zerotax.thresholds/1".
class LaneWork : public fleet::Work {
 public:
  explicit LaneWork(ThresholdSession& session) : session_(session) {}

  [[nodiscard]] std::string title() const override { return "searching lanes"; }
  /// Returns the lanes as items, short lanes of each allocator first.
  [[nodiscard]] std::vector<Item> items() const override;
  /// Only counts decide about thresholds.
  [[nodiscard]] bool is_timed() const override { return false; }
  [[nodiscard]] std::uint64_t memory_bytes() const override;

 private:
  ThresholdSession& session_;
};

namespace {

constexpr const char* kLanesKind = "lanes";

/// Ratio of a lane's time with all memory written to its time with nothing written (full study, glibc).
constexpr double kWritten = 8;

/// The work of a task of a fleet, together with the session that the task has created.
class OwnLaneWork : public LaneWork {
 public:
  explicit OwnLaneWork(std::unique_ptr<ThresholdSession> session) : LaneWork(*session), own_(std::move(session)) {}

 private:
  std::unique_ptr<ThresholdSession> own_;
};

std::unique_ptr<fleet::Work> make_lane_work(const Json& description, const std::string& file) {
  try {
    return std::make_unique<OwnLaneWork>(std::make_unique<ThresholdSession>(session_of_job(description, file)));
  } catch (const Json::exception& failure) {
    throw UsageError(fmt::format("{} is damaged: {}", file, failure.what()), "delete the file, and start again");
  }
}

const fleet::WorkKind lanes_kind(kLanesKind, make_lane_work);

/// Returns a key such as "glibc/0.01/worker", which is unique within a search.
std::string lane_key(const ThresholdLane& lane) {
  return fmt::format("{}/{}/{}", lane.allocator.name, lane.touch, lane.thread);
}

}  // namespace

std::vector<Item> LaneWork::items() const {
  std::vector<Item> items;
  for (ThresholdLane& lane : session_.lanes_) {
    Item& item = items.emplace_back();
    // Lanes are not compared with each other, so each lane may be a shard. Each lane takes at least two minutes, so by
    // default each lane is a shard.
    item.key = item.group = item.label = lane_key(lane);
    item.batch = fmt::format("{}/{}", lane.touch, lane.thread);
    item.seconds = 120 * (lane.touch > 0 ? kWritten * lane.touch + 1 : 1);
    item.memory_bytes = memory_needed({0, session_.axes_.case_name, session_.axes_.to, 1, "main", {}});
    item.audit = [this, &lane](const Say& say) { session_.search(lane, say); };
    item.result = [this, &lane] { return session_.json_of(lane); };
  }
  // Allocators are searched side by side. The lanes of one allocator follow each other, short ones first, because later
  // lanes begin near the thresholds that earlier lanes found.
  std::stable_sort(items.begin(), items.end(), [](const Item& one, const Item& other) {
    return std::tie(one.seconds, one.batch) < std::tie(other.seconds, other.batch);
  });
  return items;
}

std::uint64_t LaneWork::memory_bytes() const {
  const PointSpec largest{0, session_.axes_.case_name, session_.axes_.to, 1, "main", {}};
  return 2 * memory_needed(largest) + 256 * kMiB;
}

namespace {

/// Repeats of refill_loop, whose rounds have eight buffers each.
Repeats refill_repeats(std::uint64_t size) {
  const std::uint32_t ops = size <= kMiB ? 8 : 6;
  return {ops, ops, ops, ops, 0};
}

/// Behavior can change up to the fifth call. Calls with large blocks take long, but a few of them show whether an
/// allocator maps such blocks each time or keeps them.
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
  // Other threads read all lanes (found_for), so only the result of this lane may change here.
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
