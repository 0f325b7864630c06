#include <gtest/gtest.h>

#include "replay/document.h"

namespace zerotax::replay {
namespace {

Replay example() {
  Replay replay;
  replay.schema = "zerotax.replay/1";
  replay.started = "2026-11-26T12:00:00Z";
  replay.environment = Json::object();
  replay.recording.allocator = "libc.so.6";
  const Count peak = std::uint64_t{10} << 20;
  replay.recording.counts = {1000U, 900U, 10U << 20, 1U << 20, 2U << 20, 0U, 0U, 50U, peak};
  Replayed& same = replay.replays.emplace_back();
  same.allocator = Json::object();
  same.counts = {1100U, 990U, 11U << 20, (1U << 20) + 4096, 2U << 20, 0U, NotAvailable{"none"}, 60U, peak};
  same.as_recorded = true;
  same.name = "glibc";
  return replay;
}

TEST(ReplayDocument, ComesBackAsItWasWritten) {
  Replay replay = example();
  add_verdict(replay);
  const Json json = replay_json(replay);
  EXPECT_EQ(json_text(replay_json(read_replay(json))), json_text(json));
}

TEST(ReplayVerdict, SaysByHowMuchTheReplayDiffers) {
  Replay replay = example();
  add_verdict(replay);
  ASSERT_TRUE(replay.errors.has_value());
  EXPECT_NEAR(*replay.errors->minor_faults, 0.1, 1e-9);
  EXPECT_NEAR(*replay.errors->kernel_zeroed_bytes, 0.1, 1e-9);
  EXPECT_EQ(*replay.errors->refilled_bytes, 0) << "a page";
  EXPECT_FALSE(replay.errors->redundant_zeroed_bytes);
  EXPECT_NE(replay.prediction.find("zero-fill faults +10.0 %"), std::string::npos) << replay.prediction;
}

TEST(ReplayVerdict, SaysNothingOfAnotherAllocatorOrOfPartOfARun) {
  Replay other = example();
  other.replays.front().as_recorded = false;
  add_verdict(other);
  EXPECT_FALSE(other.errors.has_value());
  EXPECT_NE(other.prediction.find("libc.so.6, which was not replayed"), std::string::npos) << other.prediction;
  Replay part = example();
  part.recording.limited = true;
  add_verdict(part);
  EXPECT_FALSE(part.errors.has_value());
  EXPECT_NE(part.prediction.find("--calls-limit"), std::string::npos);
}

}  // namespace
}  // namespace zerotax::replay
