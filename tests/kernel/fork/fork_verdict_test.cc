#include <gtest/gtest.h>

#include "fork/model.h"
#include "fork/result.h"
#include "os/page.h"
#include "round_trips.h"
#include "small_pages.h"

namespace zerotax::fork {
namespace {

Prediction place(const char* sweep, std::uint64_t mappings, std::uint64_t descriptors = 4, std::uint64_t threads = 1) {
  Prediction made;
  made.sweep = sweep;
  made.predicted_ns = 25'000;
  made.facts = {0, 0, mappings, descriptors, threads};
  return made;
}

Model model_of(Measured<double> page_ns) {
  Model model;
  model.terms = {{ForkTerm::kFixed, "", 20'000.0, {}, {}}, {ForkTerm::kPage, "", std::move(page_ns), {}, {}}};
  model.fit = {place("base", 13), place("pages", 16), place("mappings", 17), place("descriptors", 13, 5)};
  model.held_back = {place("held back", 14), place("held back", 13, 4, 2)};
  return model;
}

Fork judged(Fork fork) {
  add_verdict(fork);
  return fork;
}

/// A document with two processes, of which only the second was sampled.
Fork fork_of(Model model) {
  Fork fork;
  fork.processes.resize(2);
  fork.processes[0].samples = NotAvailable{"no permission"};
  fork.processes[1].samples = std::vector<Samples>();
  fork.model = std::move(model);
  return fork;
}

TEST(ForkVerdict, SaysWhatAForkCostsByTheModel) {
  ONLY_WITH_SMALL_PAGES();
  // 25 µs plus 262,144 pages of 70 ns.
  EXPECT_EQ(*judged(fork_of(model_of(70.0))).sentence,
            "fork takes 25.0 µs, and 70 ns for each populated page: 18.4 ms with 1 GiB.");
}

TEST(ForkVerdict, AProcessIsPlainThatHasLittleButItsPages) {
  const Fork fork = judged(fork_of(model_of(70.0)));
  std::vector<bool> plain;
  for (const auto* places : {&fork.model->fit, &fork.model->held_back}) {
    for (const Prediction& each : *places) plain.push_back(*each.plain);
  }
  EXPECT_EQ(plain, (std::vector<bool>{true, true, false, false, true, false}));
}

TEST(ForkVerdict, TheModelIsALineForEachKindOfPagesWhoseCostIsKnown) {
  const Line page{"private", 25'000.0, 64.0 / static_cast<double>(page_bytes())};
  const Line huge{"huge", 25'000.0, 1.0};
  Model model = model_of(64.0);
  EXPECT_EQ(*judged(fork_of(model)).model->lines, (std::vector<Line>{page}));
  model.terms.push_back({ForkTerm::kHugePage, "", static_cast<double>(huge_page_bytes()), {}, {}});
  EXPECT_EQ(*judged(fork_of(model)).model->lines, (std::vector<Line>{page, huge}));
  model.terms[1].ns = NotAvailable{"no process had this resource"};
  EXPECT_EQ(*judged(fork_of(model)).model->lines, (std::vector<Line>{huge}));
}

TEST(ForkVerdict, WithoutAnySamplesItIsNotedThatThereAreNoSections) {
  Fork fork = fork_of(model_of(70.0));
  EXPECT_EQ(*judged(fork).notes, std::vector<std::string>());
  fork.processes.pop_back();
  EXPECT_EQ(*judged(fork).notes, std::vector<std::string>{"No sections: the kernel was not sampled."});
}

Fork estimated(double one_ns, double other_ns) {
  Fork fork = fork_of(model_of(70.0));
  fork.processes[0].name = "1 GiB";
  fork.processes[0].visits = 3;
  fork.processes[0].estimates = {{StudyPart::kCloneFlags, one_ns}, {StudyPart::kSweep, other_ns}};
  return judged(fork);
}

TEST(ForkVerdict, FiguresThatContradictEachOtherAreNamedWithWhereTheyCameFrom) {
  EXPECT_TRUE(estimated(20e6, 24e6).notes->empty());
  EXPECT_FALSE(estimated(20e6, 24e6).processes[0].contradiction);
  const Fork fork = estimated(63.8e6, 29.3e6);
  ASSERT_EQ(fork.notes->size(), 1U);
  const std::string note = fork.notes->front();
  EXPECT_NE(note.find("1 GiB: the median fork took 29.3 ms (sweep) to 63.8 ms (clone flags)"), std::string::npos)
      << note;
  EXPECT_NE(note.find("3 visits"), std::string::npos) << note;
  EXPECT_EQ(*fork.processes[0].contradiction, note);
}

TEST(ForkVerdict, SamplesThatMissMuchOfTheTimeAreNotPassedOverInSilence) {
  const auto notes_with = [&](double sum_over_mean) {
    Fork fork = fork_of(model_of(70.0));
    Samples samples;
    samples.sum_over_mean = sum_over_mean;
    fork.processes[0].samples = std::vector<Samples>{samples};
    return *judged(fork).notes;
  };
  EXPECT_TRUE(notes_with(0.95).empty());
  ASSERT_EQ(notes_with(0.48).size(), 1U);
  EXPECT_NE(notes_with(0.48)[0].find("48.0 %"), std::string::npos);
  ASSERT_EQ(notes_with(1.2).size(), 1U);
}

TEST(ForkDocument, CommittedFilesComeBackByteForByte) {
  expect_round_trips("zerotax.fork/1", [](const Json& json) { return fork_json(read_fork(json, "it")); });
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
  Fork fork = fork_of(model_of(NotAvailable{"no process had this resource"}));
  EXPECT_FALSE(judged(fork).sentence);
  fork.model = NotAvailable{"interrupted"};
  EXPECT_EQ(judged(fork).sentence.why(), "interrupted");
}

}  // namespace
}  // namespace zerotax::fork
