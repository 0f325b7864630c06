#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <utility>

#include "replay/result.h"

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
  replay.replays.front().allocator["name"] = "glibc";
  add_verdict(replay);
  Workloads all;
  all.environment = Json::object();
  all.workloads = {replay, replay};
  const Json json = workloads_json(all);
  const Workloads read = read_workloads(json);
  EXPECT_EQ(json_text(workloads_json(read)), json_text(json));
  EXPECT_EQ(read.workloads[1].replays[0].name, "glibc");
  EXPECT_EQ(replay_json(replay)["recording"], json["workloads"][0]["recording"]);
}

/// Returns a recording whose replays under three allocators wrote these MiB of zeros.
Workload zeros(std::initializer_list<std::optional<std::uint64_t>> mebibytes) {
  Workload workload;
  const char* names[] = {"one 1.0", "two 2.0 X=1", "three"};
  for (const std::optional<std::uint64_t>& each : mebibytes) {
    Replayed& replay = workload.replays.emplace_back();
    replay.name = names[workload.replays.size() - 1];
    replay.counts.zeroed_bytes = 0U;
    replay.counts.kernel_zeroed_bytes = each ? Count(*each << 20) : NotAvailable{"it crashed"};
  }
  return workload;
}

std::string sentence(std::vector<Workload> workloads) {
  Workloads all;
  all.workloads = std::move(workloads);
  add_sentence(all);
  return all.sentence;
}

TEST(WorkloadsVerdict, NamesWhoWritesTheFewestZeros) {
  EXPECT_EQ(sentence({zeros({5, 4, 9}), zeros({3, 4, 9}), zeros({3, 2, 2})}),
            "Of 3 real programs, two wrote the fewest zeros in 2, and three in 1.");
  EXPECT_EQ(sentence({zeros({5, 5, 9}), zeros({3, 3, 9})}),
            "Of 2 real programs, one and two wrote the fewest zeros in 2 each, and three in 0.");
  EXPECT_EQ(sentence({zeros({{}, 4, 9}), zeros({{}, {}, {}})}),
            "Of 1 real program, two wrote the fewest zeros in 1, and three in 0.");
  EXPECT_EQ(sentence({zeros({5})}), "") << "nothing to compare with";
  EXPECT_EQ(sentence({}), "");
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
  EXPECT_NE(other.prediction.find("libc.so.6, and no replay used this setup"), std::string::npos) << other.prediction;
  Replay part = example();
  part.recording.limited = true;
  add_verdict(part);
  EXPECT_FALSE(part.errors.has_value());
  EXPECT_NE(part.prediction.find("--calls-limit"), std::string::npos);
}

TEST(ReplayVerdict, OfAReplayThatFailedNoDifferenceIsSaid) {
  Replay replay = example();
  const NotAvailable why{"'glibc' did not end within 0.005 s"};
  replay.replays.front().counts = {why, why, why, why, why, why, why, why, why};
  add_verdict(replay);
  EXPECT_EQ(
      replay.prediction,
      "The accuracy of replay is unknown: nothing was counted under glibc, as recorded ('glibc' did not end within "
      "0.005 s).");
}

}  // namespace
}  // namespace zerotax::replay
