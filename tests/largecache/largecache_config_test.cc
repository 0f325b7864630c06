#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "largecache/config.h"
#include "largecache_testing.h"

namespace zerotax::largecache {
namespace {

std::map<std::string, std::string>& known_variables() {
  static std::map<std::string, std::string> variables;
  return variables;
}

const char* from_variables(const char* name) {
  const auto found = known_variables().find(name);
  return found == known_variables().end() ? nullptr : found->second.c_str();
}

struct Outcome {
  Settings settings;
  std::string said;
};

Outcome outcome_of(std::map<std::string, std::string> variables) {
  known_variables() = std::move(variables);
  testing::internal::CaptureStderr();
  Outcome outcome{read_settings(&from_variables, 16 * kGiB), ""};
  outcome.said = testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(Config, IsLibmalloc116WhenNothingIsSet) {
  const auto [settings, said] = outcome_of({});
  EXPECT_EQ(settings.threshold, 130'048U);
  EXPECT_EQ(settings.entries, 16U);
  EXPECT_EQ(settings.entry_limit, 134'217'728U);
  EXPECT_EQ(settings.reserve_limit, 16U << 20) << "16 GiB of memory >> 10";
  EXPECT_EQ(said, "");
}

TEST(Config, TakesEveryKnobWithoutAWord) {
  const auto [settings, said] = outcome_of({{"LARGECACHE_POLICY", "libmalloc-116"},
                                            {"LARGECACHE_THRESHOLD", "15KiB"},
                                            {"LARGECACHE_ENTRIES", "64"},
                                            {"LARGECACHE_ENTRY_LIMIT", "512MiB"},
                                            {"LARGECACHE_POPULATE", "3MiB"},
                                            {"LARGECACHE_RESERVE", "2GiB"}});
  EXPECT_EQ(settings.threshold, 15U << 10);
  EXPECT_EQ(settings.entries, 64U);
  EXPECT_EQ(settings.entry_limit, std::size_t{512} << 20);
  EXPECT_EQ(settings.populate_limit, 3U << 20);
  EXPECT_EQ(settings.reserve_limit, 2 * kGiB);
  EXPECT_EQ(said, "");
}

TEST(Config, AcceptsTheEndsOfEachRange) {
  const auto [settings, said] = outcome_of({{"LARGECACHE_THRESHOLD", "4096"},
                                            {"LARGECACHE_ENTRIES", "0"},
                                            {"LARGECACHE_ENTRY_LIMIT", "0"},
                                            {"LARGECACHE_RESERVE", "9223372036854775807"}});
  EXPECT_EQ(settings.threshold, 4096U);
  EXPECT_EQ(settings.entries, 0U);
  EXPECT_EQ(settings.entry_limit, 0U);
  EXPECT_EQ(settings.reserve_limit, 9'223'372'036'854'775'807U);
  EXPECT_EQ(said, "");
}

TEST(Config, KeepsTheDefaultAndSaysSoWhenAValueIsUnusable) {
  const std::map<std::string, std::vector<std::string>> unusable = {
      {"LARGECACHE_POLICY", {"", "libmalloc-117", "libmalloc-116 "}},
      {"LARGECACHE_THRESHOLD", {"", "4095", "0", "-1", "9223372036854775808", "128K", "1 MiB"}},
      {"LARGECACHE_ENTRIES", {"", "65", "-1", "0KiB", "16x", "0x10", "+3"}},
      {"LARGECACHE_ENTRY_LIMIT", {"", "KiB", "1.5GiB", " 1MiB", "99999999999999999999", "1TiB"}},
      {"LARGECACHE_POPULATE", {"", "-1", "64M", "9223372036854775808"}},
      {"LARGECACHE_RESERVE", {"", "8589934592GiB", "17179869184GiB", "1MiBMiB", "1mib"}},
  };
  const Settings kept = outcome_of({}).settings;
  for (const auto& [name, values] : unusable) {
    for (const std::string& value : values) {
      const std::string named = std::string("largecache: ").append(name).append("=").append(value);
      const auto [settings, said] = outcome_of({{name, value}});
      EXPECT_EQ(settings.threshold, kept.threshold) << name << '=' << value;
      EXPECT_EQ(settings.entries, kept.entries) << name << '=' << value;
      EXPECT_EQ(settings.entry_limit, kept.entry_limit) << name << '=' << value;
      EXPECT_EQ(settings.reserve_limit, kept.reserve_limit) << name << '=' << value;
      EXPECT_EQ(settings.populate_limit, 0U) << name << '=' << value;
      EXPECT_EQ(said.find(named + " is unusable; give "), 0U) << said;
      EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
    }
  }
}

TEST(Config, SaysWhatItWouldTakeAndWhatItKeeps) {
  EXPECT_EQ(outcome_of({{"LARGECACHE_ENTRIES", "65"}}).said,
            "largecache: LARGECACHE_ENTRIES=65 is unusable; give a number from 0 to 64; keeping the "
            "default, 16\n");
}

TEST(Config, SpeaksAsciiWhateverItWasGiven) {
  const std::string said = outcome_of({{"LARGECACHE_ENTRIES", "\xc3\xbc\x1b[31m" + std::string(2000, 'x')}}).said;
  EXPECT_TRUE(std::ranges::all_of(said, [](char c) { return (c >= ' ' && c <= '~') || c == '\n'; }));
  EXPECT_EQ(said.find("largecache: LARGECACHE_ENTRIES=???[31mxxx"), 0U);
  EXPECT_EQ(said.size(), 500U);
  EXPECT_EQ(said.back(), '\n');
}

TEST(Config, AsksAgainLaterWhileTheEnvironmentIsNotThere) {
  ASSERT_EQ(setenv("LARGECACHE_ENTRIES", "3", 1), 0);
  char** const kept = environ;
  environ = nullptr;
  Settings settings;
  const bool early = settings_from_environment(settings);
  environ = kept;
  EXPECT_FALSE(early);
  EXPECT_EQ(settings.entries, 16U);
  EXPECT_EQ(settings.reserve_limit, physical_memory_bytes() >> 10);
  EXPECT_TRUE(settings_from_environment(settings));
  EXPECT_EQ(settings.entries, 3U);
  unsetenv("LARGECACHE_ENTRIES");
}

TEST(Config, KnowsPhysicalMemory) {
  EXPECT_EQ(physical_memory_bytes(),
            static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
}

}  // namespace
}  // namespace zerotax::largecache
