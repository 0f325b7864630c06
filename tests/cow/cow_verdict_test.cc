#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cow/document.h"

namespace zerotax::cow {
namespace {

Json process(bool child, int copies) { return {{"child", child}, {"counts", {{"copies", copies}}}}; }

/// What was watched, but for its intervals.
Json cow_of(int copied_bytes) {
  return {{"command", {"./server", "--fast"}},
          {"pid", 4711},
          {"counted", "all"},
          {"method", "tracepoints"},
          {"interval_s", 0.5},
          {"totals", {{"copied_bytes", copied_bytes}, {"lost", 0}}},
          {"intervals", Json::array()}};
}

Json notes_of(Json cow) {
  add_verdict(cow);
  return cow["notes"];
}

Json sentence_of(const std::vector<Json>& intervals, int copied_bytes) {
  Json cow = cow_of(copied_bytes);
  for (const Json& processes : intervals) cow["intervals"].push_back({{"processes", processes}});
  add_verdict(cow);
  return cow["sentence"];
}

TEST(CowVerdict, SaysWhoCopiedWhereThereAreChildren) {
  const Json parent = Json::array({process(false, 1200)});
  const Json both = Json::array({process(false, 100), process(true, 300), process(true, 200)});
  EXPECT_EQ(sentence_of({parent, both}, 1800 * 4096),
            "1,800 pages copied (7.03 MiB): 1,300 by the parent, 500 by its children.");
  EXPECT_EQ(sentence_of({Json::array({process(false, 1)})}, 4096), "1 page copied (4 KiB).");
}

TEST(CowVerdict, NotesSayWhatWasWatchedAndHow) {
  constexpr const char* kHow =
      "; counted: all; by tracepoints. Faults per interval of 0.5 s; the last one may be shorter.";
  Json cow = cow_of(0);
  EXPECT_EQ(notes_of(cow), Json::array({fmt::format("./server --fast{}", kHow)}));
  cow["command"] = Json::array();
  EXPECT_EQ(notes_of(cow), Json::array({fmt::format("process 4711{}", kHow)}));
  std::string many;
  for (int i = 0; i < 200; ++i) many += "µ";
  cow["command"] = {many};
  // 159 letters of two bytes.
  EXPECT_EQ(notes_of(cow), Json::array({fmt::format("{}…{}", many.substr(0, 318), kHow)}));
}

TEST(CowVerdict, LostEventsAreToldOfAndNothingElseIs) {
  Json cow = cow_of(0);
  cow["totals"]["lost"] = 1234;
  EXPECT_EQ(notes_of(cow)[1], "1,234 events were lost: the counts are too low.");
  cow["totals"]["lost"] = 1;
  EXPECT_EQ(notes_of(cow)[1], "1 event was lost: the counts are too low.");
}

}  // namespace
}  // namespace zerotax::cow
