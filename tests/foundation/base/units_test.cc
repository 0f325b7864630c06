#include "base/units.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <string>

#include "base/json.h"
#include "base/size.h"

namespace zerotax {
namespace {

/// Returns the rules in tests/units_cases.json, which the formatters in Python and JavaScript must also follow.
Json rules() {
  std::ifstream file(std::string(ZEROTAX_SOURCE_DIR) + "/tests/units_cases.json");
  return Json::parse(file).at("rules");
}

TEST(Units, AreWrittenAsInPythonAndJavaScript) {
  const std::map<std::string, std::function<std::string(const Json&)>> formatters{
      {"time", [](const Json& value) { return format_ns(value.get<double>()); }},
      {"size", [](const Json& value) { return format_size(value.get<std::uint64_t>()); }},
      {"given_size", [](const Json& value) { return format_given_size(value.get<std::uint64_t>()); }},
      {"count", [](const Json& value) { return format_count(value.get<std::uint64_t>()); }},
      {"counted", [](const Json& value) { return format_counted(value.get<std::uint64_t>(), "point"); }},
      {"ratio", [](const Json& value) { return format_ratio(value.get<double>()); }},
      {"number", [](const Json& value) { return format_number(value.get<double>()); }},
      {"percent", [](const Json& value) { return format_percent(value.get<double>()); }},
      {"whole_percent", [](const Json& value) { return format_whole_percent(value.get<double>()); }},
  };
  const Json all = rules();
  ASSERT_EQ(all.size(), formatters.size());
  for (const auto& [rule, cases] : all.items()) {
    ASSERT_GE(cases.size(), 5U) << rule;
    for (const Json& each : cases) EXPECT_EQ(formatters.at(rule)(each[0]), each[1].get<std::string>()) << rule << each;
  }
}

TEST(Units, AWordForAnOptionIsReadBackAsTheSameBytes) {
  for (const auto& [bytes, word] : {std::pair{20 * kMiB, "20MiB"},
                                    {kGiB, "1GiB"},
                                    {3 * kKiB, "3KiB"},
                                    {3 * kMiB / 2, "1536KiB"},
                                    {std::uint64_t{100'000'000}, "100MB"},
                                    {4101 * std::uint64_t{4096}, "16404KiB"},
                                    {std::uint64_t{5001}, "5001"}}) {
    EXPECT_EQ(size_word(bytes), word);
    EXPECT_EQ(parse_size(word), bytes);
  }
}

TEST(Units, ACountAgreesWithItsNoun) {
  EXPECT_EQ(format_counted(0, "size"), "0 sizes");
  EXPECT_EQ(format_counted(1, "size"), "1 size");
  EXPECT_EQ(format_counted(1234, "size"), "1,234 sizes");
  EXPECT_EQ(format_counted(2, "process", "processes"), "2 processes");
}

}  // namespace
}  // namespace zerotax
