#include <gtest/gtest.h>

#include "cow/document.h"

namespace zerotax::cow {
namespace {

Json process(bool child, int copies) { return {{"child", child}, {"counts", {{"copies", copies}}}}; }

Json sentence_of(const std::vector<Json>& intervals, int copied_bytes) {
  Json cow{{"totals", {{"copied_bytes", copied_bytes}}}, {"intervals", Json::array()}};
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

}  // namespace
}  // namespace zerotax::cow
