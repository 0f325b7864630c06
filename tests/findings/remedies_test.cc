#include "findings/remedies.h"

#include <gtest/gtest.h>

#include "base/size.h"

namespace zerotax::findings {
namespace {

Finding finding_at(const char* name, std::uint64_t size) {
  Finding finding;
  finding.name = name;
  finding.named_bytes = size;
  return finding;
}

TEST(Remedies, AreALaterVersionFirstAndThenSettings) {
  const Json remedies = remedies_of({"mimalloc", "2.1.7", {}, {}}, finding_at("redundant-fresh", 100 * kMiB));
  ASSERT_GE(remedies.size(), 2U);
  EXPECT_EQ(remedies[0].at("kind"), "version");
  EXPECT_EQ(remedies[0].at("text"), "Use mimalloc 2.2.7 or later (microsoft/mimalloc#1104).");
  EXPECT_EQ(remedies[1].at("line"), "MIMALLOC_DISALLOW_ARENA_ALLOC=1");
  EXPECT_EQ(remedies_line("mimalloc", Json::array({remedies[0], remedies[1]})),
            "mimalloc 2.2.7 or later, or `MIMALLOC_DISALLOW_ARENA_ALLOC=1`");
}

TEST(Remedies, AreNoneOfAVersionThatHasItsFixOrOfAnAllocatorThatNobodyKnows) {
  for (const Json& each : remedies_of({"mimalloc", "2.2.7", {}, {}}, finding_at("redundant-fresh", 100 * kMiB))) {
    EXPECT_EQ(each.at("kind"), "setting");
  }
  const Json none = remedies_of({"nobody", "1.0", {}, {}}, finding_at("redundant-fresh", kMiB));
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(remedies_sentence(none), "No setting or version is known that avoids it.");
  EXPECT_EQ(remedies_line("nobody", none), "nothing that is known");
}

TEST(Remedies, OfAnOlderVersionAreNoSettingsThatItLacks) {
  const auto has = [](const char* version) {
    const Json remedies = remedies_of({"mimalloc", version, {}, {}}, finding_at("redundant-fresh", 100 * kMiB));
    return remedies.dump().find("MIMALLOC_DISALLOW_ARENA_ALLOC") != std::string::npos;
  };
  EXPECT_FALSE(has("2.0.9"));
  EXPECT_TRUE(has("2.1.4"));
}

TEST(Remedies, OfSeveralFindingsAreSaidOnceAndSayWhatTheyLeave) {
  const AllocatorFindings glibc{"glibc", "2.36", {}, {}};
  Finding small = finding_at("redundant-reuse", kMiB);
  small.from_bytes = 64 * kKiB;
  Finding large = small;
  large.from_bytes = large.to_bytes = kMiB;
  const Json one = united_remedies(glibc, {large, large});
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].at("line"), "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=131072");
  EXPECT_EQ(one[0].at("in_part"), false);
  EXPECT_EQ(remedies_line("glibc", one), "`GLIBC_TUNABLES=glibc.malloc.mmap_threshold=131072`");
  EXPECT_EQ(united_remedies(glibc, {small})[0].at("in_part"), true);
  EXPECT_EQ(remedies_line("glibc", united_remedies(glibc, {small, large})),
            "`GLIBC_TUNABLES=glibc.malloc.mmap_threshold=131072` (in part)");
}

}  // namespace
}  // namespace zerotax::findings
