#include <gtest/gtest.h>

#include "findings_testing.h"

namespace zerotax::findings {
namespace {

constexpr std::uint64_t kSize = 1 << 20;

/// A point of the allocator "a" on a host, with a number of zeroed bytes.
Json control(const std::string& host, std::uint64_t zeroed, std::uint64_t size = kSize) {
  Made made;
  made.allocator = "a";
  made.size = size;
  made.zeroed = zeroed;
  Json json = point_of(made);
  json["host"] = host;
  return json;
}

Json found_of(const std::vector<Json>& controls) {
  const std::vector<Json> points{control("n1", 0)};
  const Json all =
      findings::findings_json(find_findings(typed_points(points), {}, {{}, typed_points(controls)}), "made")
          .at("findings");
  Json found = Json::array();
  for (const Json& finding : all) {
    if (finding.at("rule") == "host-differs") found.push_back(finding);
  }
  return found;
}

TEST(HostDiffers, FiresWhereTwoHostsZeroDifferently) {
  const Json found = found_of({control("n1", 0), control("n2", kSize)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at("id"), "a-host-differs-1MiB");
  EXPECT_EQ(found[0].at("severity"), "medium");
  EXPECT_EQ(found[0].at("title"), "calloc(1 MiB) does different work on n2 than on n1");
  EXPECT_NE(found[0].at("sentence").get<std::string>().find("is 0 on n1 and 1,048,576 on n2"), std::string::npos);
}

TEST(HostDiffers, IsSilentWhereHostsAgree) {
  EXPECT_EQ(found_of({control("n1", kSize), control("n2", kSize), control("n3", kSize)}).size(), 0U);
}

TEST(HostDiffers, IsSilentAboutAPageAtAnEdge) {
  EXPECT_EQ(found_of({control("n1", 0), control("n2", 4096)}).size(), 0U);
}

TEST(HostDiffers, IsSilentAboutWhatIsNotTheSameTwiceOnOneHost) {
  Json unsteady = control("n2", kSize);
  unsteady["zeroed_bytes"] = not_available("a second measurement gave another result");
  EXPECT_EQ(found_of({control("n1", 0), unsteady}).size(), 0U);
}

TEST(HostDiffers, ComparesOnlyTheSamePoint) {
  EXPECT_EQ(found_of({control("n1", 0), control("n2", 2 * kSize, 2 * kSize)}).size(), 0U);
}

TEST(HostDiffers, NeedsMoreThanOneHost) { EXPECT_EQ(found_of({control("n1", kSize)}).size(), 0U); }

}  // namespace
}  // namespace zerotax::findings
