#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cow/document.h"

namespace zerotax::cow {
namespace {

Json process(bool child, int copies, int pid = 7, int zero_fills = 0) {
  return {{"child", child}, {"pid", pid}, {"counts", {{"copies", copies}, {"zero_fills", zero_fills}}}};
}

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

/// What is said of intervals of half a second.
Json judged(const std::vector<Json>& intervals, int copied_bytes) {
  Json cow = cow_of(copied_bytes);
  double from = 0;
  for (const Json& processes : intervals) {
    cow["intervals"].push_back({{"from_s", from}, {"to_s", from + 0.5}, {"processes", processes}});
    from += 0.5;
  }
  add_verdict(cow);
  return cow;
}

Json sentence_of(const std::vector<Json>& intervals, int copied_bytes) {
  return judged(intervals, copied_bytes)["sentence"];
}

/// A child's intervals: copies and zero-fills in each.
std::vector<Json> child_of(const std::vector<std::pair<int, int>>& counts) {
  std::vector<Json> intervals{Json::array({process(false, 0)})};
  for (const auto& [copies, zero_fills] : counts)
    intervals.push_back(Json::array({process(false, 0), process(true, copies, 8, zero_fills)}));
  return intervals;
}

TEST(CowVerdict, SaysWhoCopiedWhereThereAreChildren) {
  const Json parent = Json::array({process(false, 1200)});
  const Json both = Json::array({process(false, 100), process(true, 300, 8), process(true, 200, 9)});
  EXPECT_EQ(sentence_of({parent, both}, 1800 * 4096),
            "1,800 pages copied (7.03 MiB): 1,300 by the parent, 500 by its children.");
  EXPECT_EQ(sentence_of({Json::array({process(false, 1)})}, 4096), "1 page copied (4 KiB).");
}

TEST(CowVerdict, SaysWhenAnOnlyChildsCopyingEnded) {
  const Json cow = judged(child_of({{600, 10}, {395, 20}, {2, 900}, {0, 800}, {3, 700}}), 1000 * 4096);
  EXPECT_EQ(cow["copying_ended"], (Json{{"at_s", 1.5},
                                        {"child_from_s", 0.5},
                                        {"child_to_s", 3.0},
                                        {"copies_until", 995},
                                        {"copies_after", 5},
                                        {"zero_fills_until", 30},
                                        {"zero_fills_after", 2400}}));
  EXPECT_EQ(cow["sentence"],
            "1,000 pages copied (3.91 MiB): 0 by the parent, 1,000 by its children; 99.5 % of the child's came in the "
            "first 1 of its 2.5 s, in which it got 30 pages of zeros, and 2,400 in the rest.");
}

TEST(CowVerdict, SaysWhyItIsNotKnownWhenCopyingEnded) {
  const auto why = [](const std::vector<Json>& intervals) {
    return judged(intervals, 0)["copying_ended"]["na"].get<std::string>();
  };
  EXPECT_EQ(why(child_of({})), "there is not exactly one child");
  EXPECT_EQ(why({Json::array({process(true, 500, 8), process(true, 500, 9)})}), "there is not exactly one child");
  EXPECT_EQ(why(child_of({{99, 0}, {0, 0}, {0, 0}})), "the child copied fewer than 100 pages");
  EXPECT_EQ(why(child_of({{50, 0}, {50, 0}, {0, 0}})), "the child copied in most of its intervals");
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
