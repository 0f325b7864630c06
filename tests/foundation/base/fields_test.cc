#include "base/fields.h"

#include <gtest/gtest.h>

#include <vector>

namespace zerotax {
namespace {

enum class Ending { kExited, kKilled };
ENUM_WORDS(Ending, "exited", "killed")

struct Part {
  RESULT("part");
  FIELD(std::uint64_t, calls, "Number of calls.");
  FIELD(Measured<double>, share, "Share of the CPU time.");
  bool operator==(const Part&) const = default;
};

struct Whole {
  RESULT("whole");
  FIELD(Ending, ended, "How the program ended.");
  FIELD(std::optional<std::string>, host, "Host of the program.");
  FIELD(std::vector<Part>, parts, "Parts of the program.");
  bool operator==(const Whole&) const = default;
};

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
  RESULT("file");
  FIELD(OrNull<std::string>, path, "Path of the file.");
};

TEST(Fields, OrNullWithoutValueIsNull) {
  EXPECT_EQ(Json(File{}).dump(), R"({"path":null})");
  EXPECT_FALSE(Json::parse(R"({"path":null})").get<File>().path);
  EXPECT_FALSE(Json::parse("{}").get<File>().path);
  EXPECT_EQ(*Json::parse(R"({"path":"a"})").get<File>().path, "a");
}

struct Place {
  RESULT("place", "A place.");
  FIELD(std::string, file, "File of the place.", kNullIfEmpty);
};
struct Call {
  RESULT("call", "A call.");
  FIELD(std::uint64_t, bytes, "Bytes of the call.");
  PART_FIELDS(Place, at);
  FIELD(std::string, name, "Name of the call.");
  Place at;
};

TEST(Fields, OfAPartStandBesideThoseOfTheStruct) {
  const auto call = Json::parse(R"({"bytes":8,"file":"a.c","name":""})").get<Call>();
  EXPECT_EQ(call.at.file, "a.c");
  EXPECT_EQ(Json(call).dump(), R"({"bytes":8,"file":"a.c","name":""})");
}

TEST(Fields, AnEmptyStringIsNullWhereTheFieldSaysSo) {
  const std::string text = R"({"bytes":8,"file":null,"name":""})";
  EXPECT_EQ(Json::parse(text).get<Call>().at.file, "");
  EXPECT_EQ(Json(Json::parse(text).get<Call>()).dump(), text);
}

struct Lane {
  RESULT("lane", "One search.");
  MEMBER_AS("case", case_name, "Name of the case.");
  std::string case_name;
  FIELD(std::string, host, "Host that searched.", kAbsentIfEmpty);
  FIELD(std::vector<int>, sizes, "Sizes in bytes.", least(1), kAbsentIfEmpty);
};

TEST(Fields, AnEmptyValueIsNoKeyWhereItsFieldSaysSo) {
  EXPECT_EQ(Json(Lane{"loop", "", {}}).dump(), R"({"case":"loop"})");
  EXPECT_EQ(Json(Lane{"", "a", {1}}).dump(), R"({"case":"","host":"a","sizes":[1]})");
  const auto lane = Json::parse(R"({"case":"loop","host":"a"})").get<Lane>();
  EXPECT_EQ(lane.case_name, "loop");
  EXPECT_EQ(lane.host, "a");
  EXPECT_TRUE(lane.sizes.empty());
  EXPECT_THROW(Json::parse(R"({"host":"a"})").get<Lane>(), Json::out_of_range);
}

struct Row {
  static constexpr bool kIsRow = true;
  RESULT("row", "The calls of a site.");
  FIELD(int, calls, "Number of calls.");
  FIELD(Measured<double>, share, "Share of the CPU time.");
};

TEST(Fields, OfARowAreValuesInAList) {
  EXPECT_EQ(Json(std::vector<Row>{{3, 0.5}, {4, NotAvailable{"no clock"}}}).dump(),
            R"([[3,0.5],[4,{"na":"no clock"}]])");
  EXPECT_EQ(keys_of<Row>(), (std::vector<std::string>{"calls", "share"}));
}

TEST(Fields, ThrowForAMissingKey) { EXPECT_THROW(Json::parse("{}").get<Part>(), Json::out_of_range); }

TEST(Fields, AMissingMetricWasNotMeasured) {
  const auto part = Json::parse(R"({"calls":3})").get<Part>();
  EXPECT_EQ(part.share.why(), "an earlier version wrote this file");
}

struct Inner {
  std::string name = "x";
};

struct Described {
  RESULT("described");
  FIELD_AS("new", std::uint64_t, after, "A key that is a keyword.");
  MEMBER_AS("name", inner.name, "A member of a member.");
  FIELD(std::string, process, "Null if empty.", kNullIfEmpty);
  FIELD(std::optional<double>, touch, "Null if empty.", kNullIfEmpty);
  FIELD(std::vector<int>, notes, "Absent if empty.", kAbsentIfEmpty);
  FIELD(std::uint64_t, later, "Absent in earlier versions.", kLater);
  Inner inner;

  void check_fields() const {
    if (after == 13) throw std::invalid_argument("13");
  }
};

TEST(Fields, MayHaveOtherKeysAndBeNullOrAbsentIfEmpty) {
  const Json json = Described{7, "", {}, {}, 0, {}};
  EXPECT_EQ(json.dump(), R"({"new":7,"name":"x","process":null,"touch":null,"later":0})");
  const auto read = json.get<Described>();
  EXPECT_EQ(read.after, 7);
  EXPECT_TRUE(read.process.empty() && !read.touch && read.notes.empty());
  const Json full = Described{7, "cc1", 0.5, {1}, 2, {"y"}};
  EXPECT_EQ(full.dump(), R"({"new":7,"name":"y","process":"cc1","touch":0.5,"notes":[1],"later":2})");
  EXPECT_EQ(Json(full.get<Described>()), full);
}

TEST(Fields, OfEarlierVersionsStayAsTheyAre) {
  Json json = Described{};
  json.erase("later");
  EXPECT_EQ(json.get<Described>().later, 0);
  json.erase("process");
  EXPECT_THROW(json.get<Described>(), Json::out_of_range);
}

TEST(Fields, ThatDoNotAgreeAreRefused) {
  EXPECT_THROW(Json(Described{13, "", {}, {}, 0, {}}).get<Described>(), std::invalid_argument);
}

TEST(Measured, NeedsAReason) {
  EXPECT_THROW(Measured<int>(NotAvailable{""}), std::invalid_argument);
  EXPECT_EQ(Measured<int>(std::optional<int>(), "no root").why(), "no root");
  EXPECT_EQ(*Measured<int>(std::optional<int>(3), "no root"), 3);
}

}  // namespace
}  // namespace zerotax
