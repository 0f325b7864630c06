#include "thresholds/lane_work.h"

#include <fmt/format.h>

#include "base/error.h"
#include "core/interrupt.h"

namespace zerotax::thresholds {
namespace {

/// A lane whose memory the program writes takes so many times as long as one that it leaves alone (full study, glibc).
constexpr double kWritten = 8;

/// A session that is made in a task, and its work.
class OwnLaneWork : public LaneWork {
 public:
  explicit OwnLaneWork(std::unique_ptr<ThresholdSession> session) : LaneWork(*session), own_(std::move(session)) {}

 private:
  std::unique_ptr<ThresholdSession> own_;
};

std::unique_ptr<fleet::Work> make_lane_work(const Json& description, const std::string& file) {
  try {
    const Json& axes = description.at("axes");
    return std::make_unique<OwnLaneWork>(
        std::make_unique<ThresholdSession>(plan_from_json(description.at("plan"), file),
                                           ThresholdAxes{axes.at("from"), axes.at("to"), axes.at("per_octave"),
                                                         axes.at("touches"), axes.at("threads"), axes.at("case")}));
  } catch (const Json::exception& failure) {
    throw UsageError(fmt::format("{} is damaged: {}", file, failure.what()), "delete it, and start anew");
  }
}

const fleet::WorkKind lanes_kind(kLanesKind, make_lane_work);

}  // namespace

std::string lane_key(const ThresholdLane& lane) {
  return fmt::format("{}/{}/{}", lane.allocator.name, lane.touch, lane.thread);
}

Json lanes_json(const Plan& plan, const ThresholdAxes& axes) {
  Plan without_points;
  without_points.timeout_s = plan.timeout_s;
  without_points.allocators = plan.allocators;
  return {{"plan", plan_json(without_points)},
          {"axes",
           {{"from", axes.from},
            {"to", axes.to},
            {"per_octave", axes.per_octave},
            {"touches", axes.touches},
            {"threads", axes.threads},
            {"case", axes.case_name}}}};
}

std::vector<fleet::WorkItem> LaneWork::items() const {
  std::vector<fleet::WorkItem> items;
  for (const ThresholdLane& lane : session_.lanes_) {
    const std::string key = lane_key(lane);
    // Nothing here is compared with each other: each lane may be a shard. Two minutes, so that each is one at first.
    items.push_back({key, key, 120 * (lane.touch > 0 ? kWritten * lane.touch + 1 : 1)});
  }
  return items;
}

std::uint64_t LaneWork::memory_bytes() const {
  const PointSpec largest{0, session_.axes_.case_name, session_.axes_.to, 1, "main", {}};
  return 2 * memory_needed(largest) + 256 * kMiB;
}

int LaneWork::run(const std::set<std::string>& keys, const fleet::WorkHooks& hooks) {
  try {
    session_.search_lanes(keys, hooks);
  } catch (const SearchInterrupted&) {
    return interrupted();
  }
  return 0;
}

}  // namespace zerotax::thresholds
