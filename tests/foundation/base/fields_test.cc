#include "base/fields.h"

#include <gtest/gtest.h>

#include <vector>

namespace zerotax {
namespace {

enum class Ending { kExited, kKilled };
NLOHMANN_JSON_SERIALIZE_ENUM(Ending, {{Ending::kExited, "exited"}, {Ending::kKilled, "killed"}})

struct Part {
  std::uint64_t calls = 0;
  Measured<double> share;
  bool operator==(const Part&) const = default;
};
ZEROTAX_FIELDS(Part, calls, share)

struct Whole {
  Ending ended = Ending::kExited;
  std::optional<std::string> host;
  std::vector<Part> parts;
  bool operator==(const Whole&) const = default;
};
ZEROTAX_FIELDS(Whole, ended, host, parts)

TEST(Fields, StandInTheOrderOfTheirDeclarationAndComeBack) {
  const Whole whole{Ending::kKilled, "node1", {{3, 0.5}, {4, NotAvailable{"no clock"}}}};
  const Json json = whole;
  EXPECT_EQ(
      json.dump(),
      R"({"ended":"killed","host":"node1","parts":[{"calls":3,"share":0.5},{"calls":4,"share":{"na":"no clock"}}]})");
  EXPECT_EQ(json.get<Whole>(), whole);
}

TEST(Fields, LeaveOutAnOptionalWithoutValueAndReadNullAsNone) {
  EXPECT_EQ(Json(Whole{}).dump(), R"({"ended":"exited","parts":[]})");
  EXPECT_EQ(Json::parse(R"({"ended":"exited","host":null,"parts":[]})").get<Whole>(), Whole{});
}

struct File {
  OrNull<std::string> path;
};
ZEROTAX_FIELDS(File, path)

TEST(Fields, OrNullWithoutValueIsNull) {
  EXPECT_EQ(Json(File{}).dump(), R"({"path":null})");
  EXPECT_FALSE(Json::parse(R"({"path":null})").get<File>().path);
  EXPECT_FALSE(Json::parse("{}").get<File>().path);
  EXPECT_EQ(*Json::parse(R"({"path":"a"})").get<File>().path, "a");
}

TEST(Fields, ThrowForAMissingKey) { EXPECT_THROW(Json::parse("{}").get<Part>(), Json::out_of_range); }

TEST(Fields, AMissingMetricWasNotMeasured) {
  const auto part = Json::parse(R"({"calls":3})").get<Part>();
  EXPECT_EQ(part.share.why(), "an earlier version wrote this file");
}

TEST(Measured, NeedsAReason) {
  EXPECT_THROW(Measured<int>(NotAvailable{""}), std::invalid_argument);
  EXPECT_EQ(Measured<int>(std::optional<int>(), "no root").why(), "no root");
  EXPECT_EQ(*Measured<int>(std::optional<int>(3), "no root"), 3);
}

}  // namespace
}  // namespace zerotax
