#include <gtest/gtest.h>

#include <deque>

#include "bench/result.h"
#include "bench/suite.h"

namespace zerotax::bench {
namespace {

/// Marks at these times. Between two marks, the program takes this many faults.
class Marks {
 public:
  void add(std::int64_t ns, std::uint64_t faults, std::int32_t tid = 1, std::uint32_t later_readings = 0) {
    record::Mark& mark = all_.emplace_back();
    mark.pid = 1;
    mark.tid = tid;
    mark.later_readings = later_readings;
    mark.ns = ns;
    mark.minor_faults = faults;
    mark.anonymous_bytes = 8 << 20;
    mark.peak_bytes = 8 << 20;
    mark.returned_bytes = faults * 4096;
  }
  [[nodiscard]] std::vector<const record::Mark*> list() const {
    std::vector<const record::Mark*> found;
    for (const record::Mark& mark : all_) found.push_back(&mark);
    return found;
  }

 private:
  std::deque<record::Mark> all_;
};

/// A repetition of a benchmark, as Google Benchmark reports the repetition.
Reported repetition(const char* name, double iterations, double real_ns) {
  return {name, name, real_ns, {{iterations, iterations * real_ns, 200}}};
}

TEST(Counts, AreOfTheLoopWhoseLengthIsReported) {
  Marks marks;
  marks.add(0, 0);
  marks.add(10'000'000, 5);  // the loop of a first attempt, which the benchmark does not report
  marks.add(11'000'000, 5);
  marks.add(111'000'040, 1005);  // 100 ms, plus 40 ns by which the reported mean is too short
  const auto counts = counts_of({repetition("a", 100, 1'000'000)}, marks.list());
  ASSERT_TRUE(counts.at("a"));
  EXPECT_EQ(counts.at("a")->minor_faults, 10);
  EXPECT_EQ(counts.at("a")->refilled_bytes, 10 * 4096);
}

TEST(Counts, OfRepetitionsAreTheirMean) {
  Marks marks;
  marks.add(0, 0);
  marks.add(100'000'000, 100);
  marks.add(200'000'000, 400);
  const auto counts = counts_of({repetition("a", 100, 1'000'000), repetition("a", 100, 1'000'000)}, marks.list());
  EXPECT_EQ(counts.at("a")->minor_faults, 2);
}

TEST(Counts, OfALoopThatIsNotFoundAreNotKnown) {
  Marks marks;
  marks.add(0, 0);
  marks.add(50'000'000, 100);
  marks.add(100'000'000, 100, 2);  // this mark comes from another thread
  EXPECT_FALSE(counts_of({repetition("a", 100, 1'000'000)}, marks.list()).at("a"));
  EXPECT_FALSE(counts_of({repetition("a", 50, 1'000'000), repetition("b", 50, 1'000'000)}, marks.list()).at("b"));
}

TEST(Counts, OfSeveralStretchesAreFoundByTheirSum) {
  Marks marks;
  marks.add(0, 0);
  marks.add(100'000'000, 70);  // the loop of a warm-up
  for (int sample = 0; sample < 3; ++sample) {
    marks.add(100'000'500 + sample * 1'000'000, 100 + static_cast<std::uint64_t>(sample) * 20);
    marks.add(100'800'000 + sample * 1'000'000, 110 + static_cast<std::uint64_t>(sample) * 20);
  }
  Reported reported = {"a", "a", 0, {{30, 2'398'000, 3'000, 3}}};
  EXPECT_EQ(counts_of({reported}, marks.list()).at("a")->minor_faults, 1);
  reported.loops[0].ns = 2'300'000;
  EXPECT_FALSE(counts_of({reported}, marks.list()).at("a"));
}

TEST(Counts, AreNotOfTheMeasuringOfTheClock) {
  Marks marks;
  marks.add(0, 0);
  marks.add(1'000'000, 0);
  marks.add(1'100'000, 0, 1, 900);
  marks.add(2'100'000, 0);
  const Reported reported = {"a", "a", 0, {{30, 2'000'000, 3'000, 2}}};
  EXPECT_FALSE(counts_of({reported}, marks.list()).at("a"));
  // Readings of the clock before a loop belong to the loop's first mark.
  marks.add(2'200'000, 0, 1, 900);
  marks.add(3'200'500, 15);
  marks.add(3'300'000, 15);
  marks.add(4'300'500, 30);
  EXPECT_EQ(counts_of({reported}, marks.list()).at("a")->minor_faults, 1);
}

TEST(Counts, OfBenchmarksThatAreEquallyLongAreInOrder) {
  Marks marks;
  marks.add(0, 0);
  marks.add(1'000'100, 10);
  marks.add(1'500'000, 10);
  marks.add(2'500'100, 20);
  marks.add(3'000'000, 20);
  marks.add(4'000'000, 40);
  marks.add(4'500'000, 40);
  marks.add(5'500'000, 60);
  const auto loops = std::vector<Loop>{{20, 2'000'000, 3'000, 2}};
  const auto counts = counts_of({{"a", "a", 0, loops}, {"b", "b", 0, loops}}, marks.list());
  EXPECT_EQ(counts.at("a")->minor_faults, 1);
  EXPECT_EQ(counts.at("b")->minor_faults, 2);
}

TEST(Counts, OfSamplesOfKnownLengthsAreTheirSum) {
  Marks marks;
  marks.add(0, 0);
  marks.add(1'000'000, 10);
  marks.add(1'000'100, 10);
  marks.add(1'000'200, 15);
  marks.add(4'000'200, 45);
  const Reported reported = {"a", "a", 0, {{1, 1'000'000, 1}, {3, 3'000'000, 1}}};
  EXPECT_EQ(counts_of({reported}, marks.list()).at("a")->minor_faults, 10);
}

Measured<Counts> faults(double count) {
  Counts counts;
  counts.minor_faults = count;
  return counts;
}

TEST(Differ, NeedsAFaultAndATenth) {
  EXPECT_TRUE(differ(faults(0), faults(1)));
  EXPECT_FALSE(differ(faults(0), faults(0.9)));
  EXPECT_FALSE(differ(faults(1000), faults(1050)));
  EXPECT_TRUE(differ(faults(1000), faults(1200)));
  EXPECT_FALSE(differ(faults(1), NotAvailable{"not counted"}));
}

Benchmark benchmark(double alone, double in_order, double alone_ns, double in_order_ns) {
  Benchmark made;
  made.name = "a";
  made.alone = {std::vector<double>(12, alone_ns), faults(alone)};
  made.in_order = {std::vector<double>(12, in_order_ns), faults(in_order)};
  made.shuffled.counts = faults(alone);
  return made;
}

TEST(Verdict, NeedsBothCountsAndTime) {
  Report report;
  report.benchmarks = {benchmark(0, 0, 100, 200), benchmark(500, 0, 100, 100), benchmark(500, 0, 170, 100)};
  judge(report);
  EXPECT_EQ(report.benchmarks[0].verdict, Verdict::kSame);
  EXPECT_EQ(report.benchmarks[1].verdict, Verdict::kCountsDiffer);
  EXPECT_EQ(report.benchmarks[2].verdict, Verdict::kOrderDependent);
  EXPECT_EQ(report.sentence,
            "1 of 3 benchmarks is order-dependent: a takes 1.7 times as long alone as after those before it");
}

}  // namespace
}  // namespace zerotax::bench
