#include <gtest/gtest.h>

#include "base/json.h"

namespace zerotax {
namespace {

std::string problem_of(const std::string& text) {
  try {
    parse_strict_json(text);
    return "";
  } catch (const JsonTextError& failure) {
    return failure.what();
  }
}

TEST(StrictJson, ReadsWhatIsWritten) {
  const Json json{{"b", 1}, {"a", {1.5, nullptr, true, "x\n"}}, {"o", {{"b", 2}}}};
  EXPECT_EQ(parse_strict_json(json_text(json)).dump(), json.dump());
  EXPECT_EQ(parse_strict_json(" 18446744073709551615 ").get<std::uint64_t>(), UINT64_MAX);
}

TEST(StrictJson, SaysWhereTextIsWrong) {
  EXPECT_EQ(problem_of(""), "is not JSON (it is empty)");
  const std::string cut = problem_of("{\n \"a\": [1, 2");
  EXPECT_NE(cut.find("line 2, column"), std::string::npos) << cut;
  EXPECT_NE(cut.find("unexpected end of input"), std::string::npos) << cut;
  EXPECT_EQ(cut.find("json.exception"), std::string::npos) << cut;
  for (const char* text :
       {"nul", "NaN", "[1,]", "{'a':1}", "1 2", "// x\n1", "\"a\nb\"", "\"\xff\"", "1e400", "+1", "01"}) {
    EXPECT_NE(problem_of(text).find("is not JSON ("), std::string::npos) << text;
  }
}

TEST(StrictJson, RefusesWhatOtherReadersRefuse) {
  EXPECT_NE(problem_of("\xef\xbb\xbf{}").find("byte order mark"), std::string::npos);
  EXPECT_NE(problem_of(std::string("{}\0x", 4)).find("byte 3 is NUL"), std::string::npos);
  EXPECT_NE(problem_of(R"({"a":1,"b":{"a":2},"a":3})").find("'a' twice"), std::string::npos);
  EXPECT_EQ(problem_of(R"([{"a":1},{"a":2,"b":[{"a":1},{"a":1}]},{"a":{"a":{}}}])"), "");
}

TEST(StrictJson, RefusesWhatRecursionCouldNotEnd) {
  const std::string deep(100'000, '[');
  EXPECT_NE(problem_of(deep + std::string(100'000, ']')).find("nested"), std::string::npos);
  EXPECT_NE(problem_of(deep).find("nested"), std::string::npos);
  EXPECT_EQ(problem_of(std::string(60, '[') + std::string(60, ']')), "");
  EXPECT_NE(problem_of('"' + std::string(20'000, 'x') + '"').find("16 KiB"), std::string::npos);
  EXPECT_NE(problem_of("{\"" + std::string(20'000, 'x') + "\":1}").find("16 KiB"), std::string::npos);
  EXPECT_EQ(problem_of('"' + std::string(16'000, 'x') + '"'), "");
}

}  // namespace
}  // namespace zerotax
