#include <gtest/gtest.h>

#include "baseline/result.h"
#include "programs_testing.h"

namespace zerotax::baseline {
namespace {

using record::RecordedSite;
using record::SiteKind;

NamedFrame frame(const std::string& module, const std::string& function, const std::string& file, int line,
                 std::uint64_t address = 1) {
  NamedFrame made;
  made.module = module;
  made.address = address;
  made.function = function;
  if (!file.empty()) made.file = file;
  if (line != 0) made.line = line;
  return made;
}

RecordedSite site_of(std::vector<NamedFrame> frames) {
  RecordedSite site;
  site.kind = SiteKind::kFree;
  site.frames = std::move(frames);
  return site;
}

TEST(SiteKeys, HaveNoAddressLineOrFolder) {
  const auto at = [](const std::string& folder, int line, std::uint64_t address) {
    return runs::key_of(
        site_of({frame(folder + "/decoder", "Decoder::reset()", folder + "/src/decoder.cc", line, address),
                 frame(folder + "/decoder", "main", folder + "/src/main.cc", line + 9, address)}));
  };
  const auto [key, place] = at("/build/old", 118, 0x1234);
  EXPECT_EQ(key, at("/build/new", 120, 0x99).first);
  EXPECT_EQ(key.stack, (std::vector<std::string>{"Decoder::reset (decoder.cc)", "main (main.cc)"}));
  EXPECT_EQ(words_of(place), "Decoder::reset (decoder.cc:118)");
}

TEST(SiteKeys, LeaveOutTheLibrariesOfTheLanguage) {
  const auto [key, place] = runs::key_of(
      site_of({frame("/lib/libstdc++.so.6", "operator new(unsigned long)", "", 0),
               frame("decoder", "std::vector<int>::reserve(unsigned long)", "/usr/include/c++/12/bits/vector.tcc", 70),
               frame("decoder", "void std::fill<int>(int*, int*)", "/usr/include/c++/12/bits/algo.h", 7),
               frame("decoder", "(anonymous namespace)::collect(int) const", "collect.cc", 3),
               frame("/lib/libc.so.6", "__libc_start_main", "libc-start.c", 9), frame("decoder", "_start", "", 0)}));
  EXPECT_EQ(key.stack, (std::vector<std::string>{"collect (collect.cc)"}));
  EXPECT_EQ(words_of(place), "collect (collect.cc:3)");
}

TEST(SiteKeys, OfAScriptAreItsFunctions) {
  NamedFrame script;
  script.module = NotAvailable{"made at run time"};
  script.function = std::string("load");
  script.file = std::string("/home/me/work.py");
  script.line = 4;
  const auto [key, place] =
      runs::key_of(site_of({frame("/usr/bin/python3.12", "PyMem_Malloc", "obmalloc.c", 1), script}));
  EXPECT_EQ(key.stack, (std::vector<std::string>{"load (work.py)"}));
}

TEST(SiteKeys, OfLibrariesAloneAreAllFrames) {
  const auto [key, place] = runs::key_of(site_of({frame("/lib/libc.so.6", "getdelim", "", 0)}));
  EXPECT_EQ(words_of(place), "getdelim");
  EXPECT_EQ(runs::key_of(site_of({})).first.stack.size(), 0U);
}

TEST(SiteKeys, DoNotCountADeepRecursion) {
  const NamedFrame walk = frame("decoder", "walk(int)", "walk.cc", 5);
  EXPECT_EQ(runs::key_of(site_of({walk, walk, walk})).first, runs::key_of(site_of({walk})).first);
}

TEST(SiteChanges, AreJoinedByTheInnermostFunction) {
  runs::CommandRun before = run_with();
  runs::CommandRun after = run_with();
  add_site(before, SiteKind::kFree, {"reset (d.cc)", "old (d.cc)"}, runs::SiteNumber::kReturned, 1, 1'000'000);
  add_site(after, SiteKind::kFree, {"reset (d.cc)", "renamed (d.cc)"}, runs::SiteNumber::kReturned, 1, 1'000'000);
  EXPECT_TRUE(site_changes(program_of({before}), after).empty());
}

TEST(SiteChanges, TellCallersOfOneFunctionApart) {
  runs::CommandRun before = run_with();
  runs::CommandRun after = run_with();
  for (const char* caller : {"load (d.cc)", "save (d.cc)"}) {
    const bool grew = std::string(caller) == "save (d.cc)";
    add_site(before, SiteKind::kOther, {"xmalloc (x.cc)", caller}, runs::SiteNumber::kRequested, 1, 1'000'000);
    add_site(after, SiteKind::kOther, {"xmalloc (x.cc)", caller}, runs::SiteNumber::kRequested, 1,
             grew ? 9'000'000 : 1'000'000);
  }
  const auto changes = site_changes(program_of({before}), after);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(place_words(changes[0]), "malloc in xmalloc (decoder.cc:1), called by save (d.cc)");
}

}  // namespace
}  // namespace zerotax::baseline
