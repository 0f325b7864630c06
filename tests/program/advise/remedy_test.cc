#include "advise/remedy.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "run/allocators.h"

namespace zerotax::advise {
namespace {

/// A build with sanitizers has no probes, and thus no built-in allocators.
bool knows_allocators() { return !builtin_allocators().empty(); }

Remedy setting(std::map<std::string, std::string> env) {
  Remedy remedy;
  remedy.name = "glibc: some";
  remedy.allocator = "glibc";
  remedy.env = std::move(env);
  return remedy;
}

Remedy library() {
  Remedy remedy;
  remedy.name = remedy.allocator = "jemalloc";
  remedy.preload = "/usr/lib/libjemalloc.so.2";
  return remedy;
}

class RemedyEnvironment : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }

 private:
  static void clear() {
    for (const char* name : {"LD_PRELOAD", "GLIBC_TUNABLES"}) ::unsetenv(name);
  }
};

TEST_F(RemedyEnvironment, IsALineToPaste) {
  Remedy remedy = library();
  remedy.env["MALLOC_CONF"] = "thp:always,dirty_decay_ms:-1";
  EXPECT_EQ(paste_text(remedy), "LD_PRELOAD=/usr/lib/libjemalloc.so.2 MALLOC_CONF=thp:always,dirty_decay_ms:-1");
  EXPECT_EQ(settings(remedy), 2U);
  EXPECT_EQ(paste_text(setting({{"A", "two words"}, {"B", "it's"}, {"C", ""}})), "A='two words' B='it'\\''s' C=''");
}

TEST_F(RemedyEnvironment, StartsTheProgramByACommandThatTurnsOffHugePages) {
  const Remedy off = without_huge_pages();
  ASSERT_EQ(off.launcher.size(), 3U);
  EXPECT_TRUE(off.launcher.front().empty() || off.launcher.front().ends_with("/perl"));
  EXPECT_EQ(settings(off), 1U);
  EXPECT_TRUE(environment_of(off).empty());
  EXPECT_NE(paste_text(off).find("perl -e 'syscall("), std::string::npos) << paste_text(off);
  const Remedy both = combined(setting({{"A", "1"}}), off);
  EXPECT_TRUE(paste_text(both).starts_with("A=1 ") && paste_text(both).ends_with(paste_text(off)));
  EXPECT_EQ(settings(both), 2U);
  EXPECT_FALSE(can_combine(off, both));
}

TEST_F(RemedyEnvironment, KeepsWhatTheUserPreloadsButForAllocators) {
  if (!knows_allocators()) GTEST_SKIP() << "built without allocators";
  ::setenv("LD_PRELOAD", "/usr/lib/libmimalloc.so.2 /opt/libmine.so:/usr/lib/libtcmalloc_minimal.so.4", 1);
  EXPECT_EQ(other_preloads(), "/opt/libmine.so");
  EXPECT_EQ(environment_of(library()).at("LD_PRELOAD"), "/usr/lib/libjemalloc.so.2:/opt/libmine.so");
}

TEST_F(RemedyEnvironment, JoinsListsOfSettingsWithTheUsers) {
  ::setenv("GLIBC_TUNABLES", "glibc.malloc.check=1", 1);
  const Remedy remedy = setting({{"GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"}});
  EXPECT_EQ(environment_of(remedy).at("GLIBC_TUNABLES"), "glibc.malloc.check=1:glibc.malloc.hugetlb=1");
  ::setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=0:glibc.malloc.check=1", 1);
  EXPECT_EQ(environment_of(remedy).at("GLIBC_TUNABLES"), "glibc.malloc.check=1:glibc.malloc.hugetlb=1");
}

TEST(Remedies, AreCombinedWhereTheyDoNotContradictEachOther) {
  const Remedy huge = setting({{"GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"}});
  const Remedy trim = setting({{"GLIBC_TUNABLES", "glibc.malloc.trim_threshold=1"}, {"A", "1"}});
  EXPECT_TRUE(can_combine(huge, trim));
  const Remedy both = combined(huge, trim);
  EXPECT_EQ(both.env.at("GLIBC_TUNABLES"), "glibc.malloc.hugetlb=1:glibc.malloc.trim_threshold=1");
  EXPECT_EQ(both.env.at("A"), "1");
  EXPECT_FALSE(can_combine(huge, huge));
  EXPECT_FALSE(can_combine(setting({{"A", "1"}}), setting({{"A", "2"}})));
  EXPECT_FALSE(can_combine(setting({{"A", "1"}, {"B", "1"}}), setting({{"A", "1"}}))) << "one says what the other does";
  EXPECT_FALSE(can_combine(library(), library()));
  EXPECT_TRUE(can_combine(library(), setting({{"MALLOC_CONF", "thp:always"}})));
}

TEST(Remedies, OfTwoHaveTheirNamesOnce) {
  Remedy one = setting({{"A", "1"}});
  one.name = "glibc: raised thresholds";
  Remedy other = setting({{"B", "1"}});
  other.name = "glibc: huge pages";
  EXPECT_EQ(combined(one, other).name, "glibc: raised thresholds, huge pages");
  Remedy own = setting({{"MALLOC_CONF", "thp:always"}});
  own.allocator = "jemalloc";
  own.name = "jemalloc: huge pages";
  EXPECT_EQ(combined(library(), own).name, "jemalloc: huge pages");
}

TEST(Remedies, KnowAllocatorsByTheirFiles) {
  if (!knows_allocators()) GTEST_SKIP() << "built without allocators";
  EXPECT_EQ(allocator_name("/lib/x86_64-linux-gnu/libc.so.6"), "glibc");
  EXPECT_EQ(allocator_name("/usr/lib/libjemalloc.so.2"), "jemalloc");
  EXPECT_EQ(allocator_name("/usr/lib/libtbbmalloc_proxy.so.2"), "tbbmalloc");
  EXPECT_EQ(allocator_name("/home/me/jemalloc/server"), "");
  EXPECT_EQ(allocator_name(""), "");
}

}  // namespace
}  // namespace zerotax::advise
