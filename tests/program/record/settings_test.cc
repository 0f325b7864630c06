#include "record/settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "files/folders.h"
#include "record/remedies.h"

namespace zerotax::record {
namespace {

const Variables kNone;

TEST(Settings, OfAListReplaceThoseOfTheSameNameOnly) {
  EXPECT_EQ(merged("MALLOC_CONF", "narenas:2,dirty_decay_ms:0", "dirty_decay_ms:-1,muzzy_decay_ms:-1"),
            "narenas:2,dirty_decay_ms:-1,muzzy_decay_ms:-1");
  EXPECT_EQ(merged("_RJEM_MALLOC_CONF", "thp:always", "dirty_decay_ms:-1"), "thp:always,dirty_decay_ms:-1");
  EXPECT_EQ(merged("GLIBC_TUNABLES", "glibc.malloc.check=1:glibc.malloc.hugetlb=0", "glibc.malloc.hugetlb=1"),
            "glibc.malloc.check=1:glibc.malloc.hugetlb=1");
  EXPECT_EQ(merged("SCUDO_OPTIONS", "", "release_to_os_interval_ms=-1"), "release_to_os_interval_ms=-1");
  EXPECT_EQ(merged("MALLOC_ARENA_MAX", "4", "1"), "1") << "no list";
}

TEST(Settings, ThatTheUserHasStayBesideARemedy) {
  const Variables now{{"MALLOC_CONF", "background_thread:true,dirty_decay_ms:0"}};
  const Variables env{{"MALLOC_CONF", "dirty_decay_ms:-1"}};
  EXPECT_EQ(with_settings(now, env), (Variables{{"MALLOC_CONF", "background_thread:true,dirty_decay_ms:-1"}}));
  EXPECT_EQ(replaced_by(now, env), "dirty_decay_ms:0");
  EXPECT_EQ(replaced_by({{"MALLOC_CONF", "narenas:1"}}, env), "");
  EXPECT_EQ(replaced_by({{"MALLOC_ARENA_MAX", "4"}}, {{"MALLOC_ARENA_MAX", "1"}}), "MALLOC_ARENA_MAX=4");
}

TEST(Settings, AreSetIfTheirValuesMeanTheSame) {
  EXPECT_TRUE(are_set({{"MALLOC_CONF", "narenas:2,dirty_decay_ms:-1"}}, {{"MALLOC_CONF", "dirty_decay_ms:-1"}}));
  EXPECT_FALSE(are_set({{"MALLOC_CONF", "dirty_decay_ms:-1,dirty_decay_ms:0"}}, {{"MALLOC_CONF", "dirty_decay_ms:-1"}}))
      << "the last setting counts";
  EXPECT_TRUE(are_set({{"MIMALLOC_ALLOW_DECOMMIT", "off"}}, {{"MIMALLOC_ALLOW_DECOMMIT", "0"}}));
  EXPECT_TRUE(are_set({{"TCMALLOC_RELEASE_RATE", "0.0"}}, {{"TCMALLOC_RELEASE_RATE", "0"}}));
  EXPECT_FALSE(are_set({{"TCMALLOC_RELEASE_RATE", "10"}}, {{"TCMALLOC_RELEASE_RATE", "0"}}));
  EXPECT_FALSE(are_set(kNone, {{"TCMALLOC_RELEASE_RATE", "0"}}));
}

TEST(Settings, OfGlibcChangeTheTunableThatWouldWin) {
  const Variables now{{"GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=131072:glibc.malloc.check=1"}};
  const Variables env{{"MALLOC_MMAP_THRESHOLD_", "1073741824"}, {"MALLOC_TRIM_THRESHOLD_", "1073741824"}};
  EXPECT_EQ(with_settings(now, env),
            (Variables{{"GLIBC_TUNABLES", "glibc.malloc.check=1:glibc.malloc.mmap_threshold=1073741824"},
                       {"MALLOC_TRIM_THRESHOLD_", "1073741824"}}));
  EXPECT_EQ(replaced_by(now, env), "glibc.malloc.mmap_threshold=131072");
}

const KnownRemedy& remedy_of(const std::vector<KnownRemedy>& remedies, const std::string& variable) {
  return *std::find_if(remedies.begin(), remedies.end(),
                       [&](const KnownRemedy& each) { return each.env.contains(variable); });
}

TEST(Remedies, HaveNoEffectInAVersionThatLacksThem) {
  const auto remedies = known_remedies("jemalloc");
  const auto never =
      std::find_if(remedies.begin(), remedies.end(), [](const KnownRemedy& each) { return each.huge_pages_off; });
  const auto why = [&](const char* version) {
    return why_no_effect(*never, {"jemalloc", "/no/such/file", version, {}}, kNone);
  };
  EXPECT_EQ(why("5.0.1"), "available from 5.1 on; this is 5.0.1");
  EXPECT_EQ(why("5.3.0"), "");
}

TEST(Remedies, HaveNoEffectInALibraryThatDoesNotNameTheOption) {
  const auto remedies = known_remedies("mimalloc");
  const KnownRemedy& decommit = remedy_of(remedies, "MIMALLOC_ALLOW_DECOMMIT");
  const KnownRemedy& purge = remedy_of(remedies, "MIMALLOC_PURGE_DELAY");
  const TemporaryFolder folder("settings");
  const std::string library = folder.file("libmimalloc.so");
  std::ofstream(library) << std::string("deprecated_\0purge_delay\0", 24);
  const auto why = [&](const KnownRemedy& remedy, const Variables& now) {
    return why_no_effect(remedy, {"mimalloc", library, "2.1.7", {}}, now);
  };
  EXPECT_EQ(why(decommit, kNone), "version 2.1.7 of the allocator does not know the setting");
  EXPECT_EQ(why(purge, kNone), "");
  EXPECT_EQ(why(purge, {{"MIMALLOC_PURGE_DELAY", "-1"}}), "already set");
}

TEST(Remedies, UndoOnlyWhatIsSet) {
  const auto remedies = known_remedies("tcmalloc");
  const KnownRemedy& undo = remedy_of(remedies, "TCMALLOC_AGGRESSIVE_DECOMMIT");
  const PresentAllocator tcmalloc{"tcmalloc", "", "2.10", {}};
  EXPECT_EQ(why_no_effect(undo, tcmalloc, {{"TCMALLOC_AGGRESSIVE_DECOMMIT", "1"}}), "");
  EXPECT_EQ(why_no_effect(undo, tcmalloc, kNone), "the remedy undoes a setting that is not set");
  EXPECT_EQ(&undo, &remedies.front()) << "it comes before settings that have no effect beside it";
}

TEST(Remedies, WithoutABoundAreMarked) {
  for (const char* allocator : {"jemalloc", "mimalloc", "tcmalloc", "scudo", "glibc", "tbbmalloc"}) {
    for (const KnownRemedy& remedy : known_remedies(allocator)) {
      for (const auto& [key, value] : remedy.env) {
        const bool is_switch = key == "MIMALLOC_ALLOW_THP" || key == "MIMALLOC_PURGE_DECOMMITS";
        const bool endless = value.find("-1") != std::string::npos || (value == "0" && !is_switch);
        const bool is_undo = remedy.undoes.value_or(false);
        EXPECT_EQ(remedy.unbounded.value_or(false), endless && !is_undo) << allocator << ": " << key << "=" << value;
      }
    }
  }
}

}  // namespace
}  // namespace zerotax::record
