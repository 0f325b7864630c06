#include "thresholds/lane_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "run/make_plan.h"
#include "thresholds/document.h"

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
    return std::make_unique<OwnLaneWork>(std::make_unique<ThresholdSession>(session_of_job(description, file)));
  } catch (const Json::exception& failure) {
    throw UsageError(fmt::format("{} is damaged: {}", file, failure.what()), "delete it, and start again");
  }
}

const fleet::WorkKind lanes_kind(kLanesKind, make_lane_work);

}  // namespace

std::string lane_key(const ThresholdLane& lane) {
  return fmt::format("{}/{}/{}", lane.allocator.name, lane.touch, lane.thread);
}

std::vector<Item> LaneWork::items() const {
  std::vector<Item> items;
  for (ThresholdLane& lane : session_.lanes_) {
    Item& item = items.emplace_back();
    // Nothing here is compared with each other: each lane may be a shard. Two minutes, so that each is one at first.
    item.key = item.group = item.label = lane_key(lane);
    item.batch = fmt::format("{}/{}", lane.touch, lane.thread);
    item.seconds = 120 * (lane.touch > 0 ? kWritten * lane.touch + 1 : 1);
    item.memory_bytes = memory_needed({0, session_.axes_.case_name, session_.axes_.to, 1, "main", {}});
    item.audit = [this, &lane](const Say& say) { session_.search(lane, say); };
    item.result = [this, &lane] { return session_.json_of(lane); };
  }
  // Allocators are searched side by side, the lanes of one allocator one after the other, quick ones first: the others
  // look where these changed.
  std::stable_sort(items.begin(), items.end(), [](const Item& one, const Item& other) {
    return std::tie(one.seconds, one.batch) < std::tie(other.seconds, other.batch);
  });
  return items;
}

std::uint64_t LaneWork::memory_bytes() const {
  const PointSpec largest{0, session_.axes_.case_name, session_.axes_.to, 1, "main", {}};
  return 2 * memory_needed(largest) + 256 * kMiB;
}

}  // namespace zerotax::thresholds
