#include <gtest/gtest.h>

#include "fork/agreement.h"
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

Json estimated(double one_ns, double other_ns) {
  Json fork = fork_of(70);
  fork["processes"][0].update(
      {{"name", "1 GiB"},
       {"visits", 3},
       {"estimates", {{{"part", "clone flags"}, {"ns", one_ns}}, {{"part", "sweep"}, {"ns", other_ns}}}}});
  add_verdict(fork);
  return fork;
}

TEST(ForkVerdict, FiguresThatContradictEachOtherAreNamedWithWhereTheyCameFrom) {
  EXPECT_EQ(estimated(20e6, 24e6)["notes"], Json::array());
  EXPECT_TRUE(estimated(20e6, 24e6)["processes"][0]["contradiction"].is_null());
  const Json fork = estimated(63.8e6, 29.3e6);
  ASSERT_EQ(fork["notes"].size(), 1);
  const std::string note = fork["notes"][0];
  EXPECT_NE(note.find("1 GiB: the median fork took 29.3 ms (sweep) to 63.8 ms (clone flags)"), std::string::npos)
      << note;
  EXPECT_NE(note.find("3 visits"), std::string::npos) << note;
  EXPECT_EQ(fork["processes"][0]["contradiction"], note);
}

TEST(ForkVerdict, SamplesThatMissMuchOfTheTimeAreNotPassedOverInSilence) {
  Json fork = fork_of(70);
  const auto with = [&](double sum_over_mean) {
    fork["processes"][0] = {
        {"name", "1 GiB"},
        {"samples", {{{"sum_over_mean", sum_over_mean}, {"samples", 0}, {"sections", Json::array()}}}}};
    add_verdict(fork);
    return fork["notes"];
  };
  EXPECT_EQ(with(0.95), Json::array());
  ASSERT_EQ(with(0.48).size(), 1);
  EXPECT_NE(with(0.48)[0].get<std::string>().find("48.0 %"), std::string::npos);
  ASSERT_EQ(with(1.2).size(), 1);
}

TEST(ForkAgreement, IsOfEveryPartThatMeasuredThisSize) {
  ForkProcess process;
  EXPECT_EQ(apart(visit_estimates(process)), 1);
  process.bytes = std::uint64_t{1} << 30;
  process.ablation = {{"fork", 0, {10, 12, 11}}, {"CLONE_VM", 1, {1, 1, 1}}};
  process.samples.resize(2);
  process.samples[0].unsampled_median_ns = 12;
  process.samples[1].flags = 1;
  process.end_ns = 11;
  EXPECT_EQ(visit_estimates(process).size(), 3);
  EXPECT_DOUBLE_EQ(apart(visit_estimates(process)), 12.0 / 11);
  ForkData data;
  data.ways_bytes = process.bytes;
  data.ways = {{"fork", 22, 30}, {"vfork", 1, 1}};
  data.places = {{"base", {}, {}, {1}, {}},
                 {"pages", {process.bytes, "private", 0, 0, 0}, {}, {13, 13, 14}, {}},
                 {"huge", {process.bytes, "huge", 0, 0, 0}, {}, {2}, {}}};
  EXPECT_EQ(all_estimates(process, data).size(), 5);
  EXPECT_DOUBLE_EQ(apart(all_estimates(process, data)), 2);
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
