#include <gtest/gtest.h>

#include "base/size.h"
#include "judge/projects.h"

namespace zerotax::findings {
namespace {

Finding finding_at(const char* name, std::uint64_t size) {
  Finding finding;
  finding.name = name;
  finding.named_bytes = size;
  return finding;
}

TEST(Remedies, AreALaterVersionFirstAndThenSettings) {
  const KnownRemedies remedies =
      remedies_of({"mimalloc", std::string("2.1.7"), {}, {}}, finding_at("redundant-fresh", 100 * kMiB));
  ASSERT_GE(remedies.size(), 2U);
  EXPECT_EQ(remedies[0].kind, "version");
  EXPECT_EQ(remedies[0].text, "Use mimalloc 2.2.7 or later (microsoft/mimalloc#1104).");
  EXPECT_EQ(remedies[1].line, "MIMALLOC_DISALLOW_ARENA_ALLOC=1");
  EXPECT_EQ(remedies_line("mimalloc", {remedies[0], remedies[1]}),
            "mimalloc 2.2.7 or later, or `MIMALLOC_DISALLOW_ARENA_ALLOC=1`");
}

TEST(Remedies, AreNoneOfAVersionThatHasItsFixOrOfAnAllocatorThatNobodyKnows) {
  for (const KnownRemedy& each :
       remedies_of({"mimalloc", std::string("2.2.7"), {}, {}}, finding_at("redundant-fresh", 100 * kMiB))) {
    EXPECT_EQ(each.kind, "setting");
  }
  const KnownRemedies none = remedies_of({"nobody", std::string("1.0"), {}, {}}, finding_at("redundant-fresh", kMiB));
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(remedies_sentence(none), "No setting or version is known that avoids it.");
  EXPECT_EQ(remedies_line("nobody", none), "nothing that is known");
}

TEST(Remedies, OfAnOlderVersionAreNoSettingsThatItLacks) {
  const auto has = [](const char* version) {
    const KnownRemedies remedies =
        remedies_of({"mimalloc", std::string(version), {}, {}}, finding_at("redundant-fresh", 100 * kMiB));
    return remedies_line("mimalloc", remedies).find("MIMALLOC_DISALLOW_ARENA_ALLOC") != std::string::npos;
  };
  EXPECT_FALSE(has("2.0.9"));
  EXPECT_TRUE(has("2.1.4"));
}

TEST(Remedies, OfLargecacheAreItsPolicyThatClearsNothingNeedlessly) {
  const AllocatorFindings largecache{"largecache", std::string("0.1.0 (116)"), {}, {}};
  for (const char* name : {"redundant-reuse", "first-calls-differ"}) {
    const KnownRemedies remedies = remedies_of(largecache, finding_at(name, 100 * kMiB));
    EXPECT_EQ(remedies_line("largecache", remedies), "`LARGECACHE_POLICY=adaptive`") << name;
  }
}

TEST(Remedies, OfAConfigurationThatHasTheSettingAreNotTheSettingAgain) {
  const AllocatorFindings adaptive{
      "largecache", std::string("0.1.0 (adaptive)"), {{"LARGECACHE_POLICY", "adaptive"}}, {}};
  EXPECT_TRUE(remedies_of(adaptive, finding_at("redundant-reuse", 100 * kMiB)).empty());
}

TEST(Remedies, OfSeveralFindingsAreSaidOnceAndSayWhatTheyLeave) {
  const AllocatorFindings glibc{"glibc", std::string("2.36"), {}, {}};
  Finding small = finding_at("redundant-reuse", kMiB);
  small.from_bytes = 64 * kKiB;
  Finding large = small;
  large.from_bytes = large.to_bytes = kMiB;
  const KnownRemedies one = united_remedies(glibc, {large, large});
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].line, "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=131072");
  EXPECT_EQ(one[0].in_part, false);
  EXPECT_EQ(remedies_line("glibc", one), "`GLIBC_TUNABLES=glibc.malloc.mmap_threshold=131072`");
  EXPECT_EQ(united_remedies(glibc, {small})[0].in_part, true);
  EXPECT_EQ(remedies_line("glibc", united_remedies(glibc, {small, large})),
            "`GLIBC_TUNABLES=glibc.malloc.mmap_threshold=131072` (in part)");
}

}  // namespace
}  // namespace zerotax::findings
