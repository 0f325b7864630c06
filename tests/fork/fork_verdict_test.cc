#include <gtest/gtest.h>

#include "fork/document.h"

namespace zerotax::fork {
namespace {

Json place(const char* sweep, std::uint64_t mappings, std::uint64_t descriptors = 4, std::uint64_t threads = 1) {
  return {{"sweep", sweep},
          {"predicted_ns", 25'000.0},
          {"facts", {{"mappings", mappings}, {"descriptors", descriptors}, {"threads", threads}}}};
}

Json fork_of(const Json& page_ns) {
  return {{"processes", {{{"samples", not_available("no permission")}}, {{"samples", Json::array()}}}},
          {"model",
           {{"terms", {{{"key", "fixed"}, {"ns", 20'000}}, {{"key", "page"}, {"ns", page_ns}}}},
            {"fit", {place("base", 13), place("pages", 16), place("mappings", 17), place("descriptors", 13, 5)}},
            {"held_back", {place("held back", 14), place("held back", 13, 4, 2)}}}}};
}

TEST(ForkVerdict, SaysWhatAForkCostsByTheModel) {
  Json fork = fork_of(70);
  add_verdict(fork);
  // 25 µs and 262,144 pages of 70 ns.
  EXPECT_EQ(fork["sentence"], "fork takes 25.0 µs, and 70 ns for each populated page: 18.4 ms with 1 GiB.");
}

TEST(ForkVerdict, AProcessIsPlainThatHasLittleButItsPages) {
  Json fork = fork_of(70);
  add_verdict(fork);
  std::vector<bool> plain;
  for (const char* places : {"fit", "held_back"}) {
    for (const Json& each : fork["model"][places]) plain.push_back(each.at("plain"));
  }
  EXPECT_EQ(plain, (std::vector<bool>{true, true, false, false, true, false}));
}

TEST(ForkVerdict, TheModelIsALineForEachKindOfPagesWhoseCostIsKnown) {
  Json fork = fork_of(64);
  add_verdict(fork);
  const Json page{{"kind", "private"}, {"empty_ns", 25'000.0}, {"ns_per_byte", 64.0 / 4096}};
  EXPECT_EQ(fork["model"]["lines"], Json::array({page}));
  fork["model"]["terms"].push_back({{"key", "huge_page"}, {"ns", 2'097'152}});
  add_verdict(fork);
  const Json huge{{"kind", "huge"}, {"empty_ns", 25'000.0}, {"ns_per_byte", 1.0}};
  EXPECT_EQ(fork["model"]["lines"], Json::array({page, huge}));
  fork["model"]["terms"][1]["ns"] = not_available("no process had any");
  add_verdict(fork);
  EXPECT_EQ(fork["model"]["lines"], Json::array({huge}));
}

TEST(ForkVerdict, WithoutAnySamplesItIsNotedThatThereAreNoSections) {
  Json fork = fork_of(70);
  add_verdict(fork);
  EXPECT_EQ(fork["notes"], Json::array());
  fork["processes"].erase(1);
  add_verdict(fork);
  EXPECT_EQ(fork["notes"], Json::array({"No sections: the kernel was not sampled."}));
}

TEST(ForkVerdict, WithoutAModelOrAPagesCostThereIsNoSentence) {
  Json fork = fork_of(not_available("no process had any"));
  add_verdict(fork);
  EXPECT_TRUE(is_not_available(fork["sentence"]));
  fork["model"] = not_available("interrupted");
  add_verdict(fork);
  EXPECT_EQ(fork["sentence"], not_available("interrupted"));
}

}  // namespace
}  // namespace zerotax::fork
