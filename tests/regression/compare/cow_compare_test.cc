#include <gtest/gtest.h>

#include <algorithm>

#include "compare/cow.h"

namespace zerotax::compare {
namespace {

using cow::Cow;

/// A run with this many copies, all by one writer.
Cow run_with(std::uint64_t copies, Writer writer = Writer::kProgram) {
  Cow run;
  run.command = {"./server"};
  run.counted = "all";
  run.environment = {{"page_bytes", 4096}, {"kernel", "6.18.44"}, {"load_average", nullptr}};
  run.totals.copies = copies;
  run.totals.copied_bytes = copies * 4096;
  run.sampling = NotAvailable{"every fault was recorded"};
  run.bounds = NotAvailable{"each fault is known"};
  run.processes.resize(2);
  run.writers.emplace();
  run.writers->push_back({writer, std::nullopt, copies, copies, copies * 4096});
  return run;
}

Cow sampled(std::uint64_t copies, std::uint64_t half_width) {
  Cow run = run_with(copies);
  run.sampling = cow::Sampling{1000, 20, {half_width, half_width, half_width}};
  return run;
}

CowComparison compared(const Cow& before, const Cow& after) {
  return compare_cow_files(before, "old.json", after, "new.json");
}

const CowCount* count_of(const CowComparison& comparison, const std::string& name) {
  const auto found = std::find_if(comparison.counts.begin(), comparison.counts.end(),
                                  [&](const CowCount& each) { return each.name == name; });
  return found == comparison.counts.end() ? nullptr : &*found;
}

TEST(CowComparison, FindsMoreAndFewerCopies) {
  const CowComparison worse = compared(run_with(1000), run_with(3000));
  EXPECT_EQ(worse.verdict, Verdict::kWorse);
  EXPECT_EQ(worse.sentence, "worse: copied pages 1,000 → 3,000; 3 of 4 counts differ");
  EXPECT_EQ(*count_of(worse, "copied by program")->direction, Direction::kNeither);
  EXPECT_EQ(compared(run_with(3000), run_with(1000)).verdict, Verdict::kBetter);
}

TEST(CowComparison, IgnoresDifferencesByChance) {
  EXPECT_EQ(compared(run_with(1000), run_with(1032)).verdict, Verdict::kSame);
  EXPECT_EQ(compared(run_with(1000), run_with(1033)).verdict, Verdict::kWorse);
  EXPECT_EQ(compared(run_with(100'000), run_with(101'000)).verdict, Verdict::kSame);
  EXPECT_EQ(compared(run_with(100'000), run_with(101'100)).verdict, Verdict::kWorse);
}

TEST(CowComparison, ComparesSamplesByTheirIntervals) {
  const CowComparison same = compared(sampled(10'000, 900), sampled(11'000, 900));
  EXPECT_EQ(same.verdict, Verdict::kSame);
  EXPECT_EQ(count_of(same, "copied pages")->line, "copied pages 9,100 to 10,900 → 10,100 to 11,900");
  EXPECT_EQ(count_of(same, "copied by program"), nullptr);
  EXPECT_EQ(compared(sampled(10'000, 900), sampled(14'000, 900)).verdict, Verdict::kWorse);
}

TEST(CowComparison, SaysIfAnotherWriterCopied) {
  const CowComparison changed = compared(run_with(1000), run_with(1000, Writer::kCollector));
  EXPECT_EQ(changed.verdict, Verdict::kChanged);
  EXPECT_EQ(count_of(changed, "copied by garbage collector")->line, "copied by garbage collector 0 → 1,000");
}

TEST(CowComparison, NamesDifferingConditions) {
  Cow other = run_with(1000);
  other.environment["kernel"] = "6.1.0";
  other.method = cow::Method::kSoftware;
  const CowComparison comparison = compared(run_with(1000), other);
  ASSERT_EQ(comparison.notes.size(), 3U);
  EXPECT_EQ(comparison.notes[0], "The methods of observing faults differ: OLD tracepoints, NEW software.");
  EXPECT_EQ(comparison.notes[1], "The files were measured under different conditions: kernel: 6.18.44 and 6.1.0.");
}

TEST(CowComparison, GivesTheReasonForCountsThatAreNotCompared) {
  Cow earlier = run_with(1000);
  earlier.writers.reset();
  const CowComparison comparison = compared(earlier, run_with(1000));
  ASSERT_EQ(comparison.not_compared.size(), 2U);
  EXPECT_EQ(comparison.not_compared[0].why, "OLD: no child was alive at the end of an interval");
  EXPECT_EQ(comparison.not_compared[1].name, "copied by program");
}

}  // namespace
}  // namespace zerotax::compare
