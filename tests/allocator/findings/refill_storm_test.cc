#include <string>
#include <vector>

#include "findings_testing.h"

namespace zerotax::findings {
namespace {

constexpr std::uint64_t kRequested = 8 * kMiB;

/// A point of refill_loop with the refilled bytes and the time of a round; all memory is returned by brk.
Json refill_point(const std::string& allocator, const Json& refilled, double ns, double touch = 1) {
  Json point = point_of({.allocator = allocator, .touch = touch, .touch_faults = 2016, .ns = ns});
  point["case"] = "refill_loop";
  point["requested_bytes"] = kRequested;
  point["refilled_bytes"] = refilled;
  point["returned_by_brk_bytes"] = refilled;
  point["returned_by_munmap_bytes"] = 0;
  point["returned_by_madvise_bytes"] = 0;
  return point;
}

Json storms_of(const std::vector<Json>& points) {
  Json storms = Json::array();
  const Json found = found_json(points);
  for (const Json& finding : found.at("findings")) {
    if (finding.at("rule") == "refill-storm") storms.push_back(finding);
  }
  return storms;
}

std::string severity_beside(double peer_ns) {
  const Json storms = storms_of({refill_point("a", kRequested, 1000), refill_point("b", 0, peer_ns)});
  return storms.size() == 1 ? storms[0].at("severity").get<std::string>() : "none";
}

TEST(RefillStorm, FiresFromHalfOfWhatARoundUsesOn) {
  EXPECT_EQ(storms_of({refill_point("a", kRequested / 2, 1000)}).size(), 1U);
  EXPECT_EQ(storms_of({refill_point("a", kRequested / 2 - 1, 1000)}).size(), 0U);
  // Only half of the pages are written, so a quarter of the requested bytes is half of the written ones.
  EXPECT_EQ(storms_of({refill_point("a", kRequested / 4, 1000, 0.5)}).size(), 1U);
  EXPECT_EQ(storms_of({refill_point("a", kRequested / 4 - 1, 1000, 0.5)}).size(), 0U);
}

TEST(RefillStorm, ItsSeverityIsTheCostBesideTheFastestPeer) {
  EXPECT_EQ(severity_beside(100), "high");
  EXPECT_EQ(severity_beside(101), "medium");
  EXPECT_EQ(severity_beside(500), "medium");
  EXPECT_EQ(severity_beside(501), "low");
  EXPECT_EQ(storms_of({refill_point("a", kRequested, 1000)})[0].at("severity"), "low")
      << "no other allocator was measured";
}

TEST(RefillStorm, SaysByWhatAndHowMuch) {
  const Json storm = storms_of({refill_point("a", 8257536, 1000)})[0];
  EXPECT_EQ(storm.at("id"), "a-refill-storm-1MiB");
  const auto sentence = storm.at("sentence").get<std::string>();
  for (const char* words :
       {"by brk in each round", "8,257,536 bytes a round, 98.4 % of what it uses", "2,016 page faults"}) {
    EXPECT_NE(sentence.find(words), std::string::npos) << sentence;
  }
}

TEST(RefillStorm, KnowsNothingOfWhatWasNotMeasured) {
  EXPECT_EQ(storms_of({refill_point("a", not_available("no pagemap"), 1000)}).size(), 0U);
  Json failed = refill_point("a", kRequested, 1000);
  failed["status"] = "crashed";
  failed["reason"] = "killed by SIGSEGV";
  EXPECT_EQ(storms_of({failed}).size(), 0U);
}

TEST(RefillStorm, OtherRulesLookAtOtherCases) {
  const Json found = found_json({refill_point("a", kRequested, 1000)});
  EXPECT_EQ(found.at("findings").size(), 1U) << found.dump(1);
}

}  // namespace
}  // namespace zerotax::findings
