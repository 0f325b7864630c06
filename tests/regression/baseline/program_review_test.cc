#include <gtest/gtest.h>

#include "baseline/result.h"
#include "os/page.h"
#include "programs_testing.h"

namespace zerotax::baseline {
namespace {

using enum runs::Metric;
using record::SiteKind;

std::string sentence_of(const runs::CommandRun& before, const runs::CommandRun& after) {
  const Program program = program_of({before});
  return check_of(program, judge(program, runner_of({after})), {}, "as in the baseline").sentence;
}

/// A program with a known problem: it returns 64 blocks of 1 MiB to the kernel in each round.
runs::CommandRun refilling() {
  constexpr std::uint64_t kPages = 70'480;
  runs::CommandRun run = run_with({{kMinorFaults, 71'697},
                                   {kKernelZeroed, 4'096'000 + kPages * page_bytes()},
                                   {kRefilled, 4'096'000 + kPages * page_bytes()},
                                   {kReturned, 4'096'000 + kPages * page_bytes()}});
  add_site(run, SiteKind::kFree, {"Decoder::reset (decoder.cc)"}, runs::SiteNumber::kReturned, 64,
           kPages * page_bytes(), 118);
  add_site(run, SiteKind::kOther, {"Decoder::read (decoder.cc)"}, runs::SiteNumber::kKernelZeroed, 64,
           kPages * page_bytes(), 90);
  return run;
}

TEST(Sentence, NamesWhoReturnedWhatWasFilledAgain) {
  EXPECT_EQ(sentence_of(run_with(), refilling()),
            "worse: page faults 1,000 → 71,697: 70,480 refills; returned by free in Decoder::reset (decoder.cc:118), "
            "0 → 64 calls, 0 B → 275 MiB");
  EXPECT_EQ(sentence_of(refilling(), run_with()),
            "better: page faults 71,697 → 1,000: 70,480 refills fewer; returned by free in Decoder::reset "
            "(decoder.cc:118), 64 → 0 calls, 275 MiB → 0 B");
}

TEST(Sentence, NamesWhoseBlocksLiveAtAPeakIfTheyAreHalfOfIt) {
  runs::CommandRun after = run_with({{kPeakLive, 8'192'000}, {kPeak, 8'192'000}});
  EXPECT_EQ(sentence_of(run_with(), after), "worse: peak of live heap 3.91 MiB → 7.81 MiB");
  add_site(after, SiteKind::kOther, {"index (decoder.cc)"}, runs::SiteNumber::kLive, 0, 2'000'000, 7);
  EXPECT_EQ(sentence_of(run_with(), after), "worse: peak of live heap 3.91 MiB → 7.81 MiB");
  add_site(after, SiteKind::kRealloc, {"grow (decoder.cc)"}, runs::SiteNumber::kLive, 3, 2'048'000, 9);
  EXPECT_EQ(sentence_of(run_with(), after),
            "worse: peak of live heap 3.91 MiB → 7.81 MiB: realloc in grow (decoder.cc:9), 0 B → 1.95 MiB");
  EXPECT_EQ(sentence_of(after, run_with()),
            "better: peak of live heap 7.81 MiB → 3.91 MiB: realloc in grow (decoder.cc:9), 1.95 MiB → 0 B");
}

TEST(Sentence, HasNoBlocksThatABaselineOfAnEarlierVersionDidNotCount) {
  Program before = program_of({run_with()});
  before.metrics[kPeakLive] = NotAvailable{"an earlier version wrote this file"};
  runs::CommandRun after = run_with();
  add_site(after, SiteKind::kOther, {"index (decoder.cc)"}, runs::SiteNumber::kLive, 0, 4'096'000);
  EXPECT_TRUE(site_changes(before, after).empty());
}

TEST(Sentence, HasNoCauseOfAFewFaultsForAChangeOfMany) {
  // The remaining faults copy and reuse pages after a fork.
  runs::CommandRun before = run_with({{kMinorFaults, 16'866}, {kZeroFillFaults, 1004}, {kRefilled, 4'096'000}});
  const runs::CommandRun after =
      run_with({{kMinorFaults, 7'891}, {kRefilled, 4'096'000 - 4 * page_bytes()}, {kKernelZeroed, 4'079'616}});
  EXPECT_EQ(sentence_of(before, after), "better: page faults 16,866 → 7,891");
  // A call site with a hundredth of a change does not explain the change.
  add_site(before, SiteKind::kOther, {"Decoder::read (decoder.cc)"}, runs::SiteNumber::kKernelZeroed, 9,
           90 * page_bytes());
  EXPECT_EQ(sentence_of(before, after), "better: page faults 16,866 → 7,891");
  runs::CommandRun calls = run_with({{kMallocCalls, 90'000}, {kAllocations, 90'000}});
  add_site(calls, SiteKind::kOther, {"Decoder::read (decoder.cc)"}, runs::SiteNumber::kRequested, 800, 90 << 20);
  EXPECT_EQ(sentence_of(run_with(), calls), "worse: allocation calls 1,000 → 90,000");
}

Program named(const std::string& name, const std::vector<std::string>& children, std::uint64_t faults) {
  runs::CommandRun run = run_with({{kMinorFaults, faults}});
  run.processes = {{name, run.all}};
  run.roles = {{name, ""}};
  for (const std::string& child : children) {
    run.processes[child] = run.all;
    run.roles.push_back({child, name});
  }
  return program_of({run});
}

TEST(ProgramComparison, PairsProcessesByTheirRole) {
  EXPECT_TRUE(compare(named("old", {}, 1000), named("new", {}, 1000)).changes.empty());
  const Judged one = compare(named("old", {}, 1000), named("new", {}, 9000));
  ASSERT_EQ(one.changes.size(), 1U);
  EXPECT_EQ(one.changes.front().process, "") << "one process is the command as a whole";
  const Judged child = compare(named("old", {"worker-1", "gzip"}, 1000), named("new", {"worker-2", "gzip"}, 9000));
  std::vector<std::string> processes;
  for (const ProgramChange& change : child.changes) processes.push_back(change.process);
  EXPECT_EQ(processes, (std::vector<std::string>{"", "gzip", "old → new", "worker-1 → worker-2"}));
}

TEST(Advice, OfACheckIsAboutWhatBecameMoreIfTheCountsShowIt) {
  runs::CommandRun after = run_with({{kByHand, 40'960'000}});
  const auto advice = [&] {
    const Program program = program_of({run_with()});
    return check_of(program, judge(program, runner_of({after})), {}, "").advice;
  };
  EXPECT_EQ(advice(), "") << "the content that the memset cleared is unknown";
  after.evidence.by_hand = after.evidence.by_hand_fresh = 36 << 20;
  after.evidence.by_hand_aligned = 0;
  EXPECT_NE(advice().find("by calloc"), std::string::npos) << advice();
  after.evidence.by_hand_fresh = 0;
  EXPECT_NE(advice().find("which calloc would clear as well"), std::string::npos) << advice();
}

TEST(Sentence, HasTheMetricThatChangedMost) {
  runs::CommandRun after = run_with({{kMinorFaults, 2000}, {kByHand, 40'960'000}});
  add_site(after, SiteKind::kByHand, {"load (decoder.cc)"}, runs::SiteNumber::kZeroed, 9, 36'864'000, 7);
  EXPECT_EQ(sentence_of(run_with(), after),
            "worse: memory zeroed by malloc+memset 3.91 MiB → 39.1 MiB: memset of a new block in load (decoder.cc:7), "
            "0 → 9 calls, 0 B → 35.2 MiB");
}

TEST(Sentence, OfAMixedOneHasBothSides) {
  EXPECT_EQ(sentence_of(run_with(), run_with({{kMinorFaults, 500}, {kPeak, 8'192'000}})),
            "mixed: peak resident memory 3.91 MiB → 7.81 MiB; better: page faults 1,000 → 500");
}

TEST(Sentence, OfWhatCostsNothingIsChanged) {
  EXPECT_EQ(sentence_of(run_with(), run_with({{kReturnedByBrk, 0}})), "changed: memory returned by brk 3.91 MiB → 0 B");
  EXPECT_EQ(sentence_of(run_with(), run_with()), "same: 46 metrics as in the baseline");
}

TEST(Sentence, NamesAProcessIfTheCommandAsAWholeIsAsItWas) {
  runs::CommandRun before = run_with();
  before.processes["helper"] = before.all;
  runs::CommandRun after = before;
  after.processes["helper"][kMinorFaults] = 3000;
  EXPECT_EQ(sentence_of(before, after), "worse: page faults of helper 1,000 → 3,000");
}

TEST(Conditions, ThatDifferAreNamed) {
  ProgramConditions before;
  before.thp = "madvise";
  ProgramConditions after = before;
  after.thp = "always";
  Program program = program_of({run_with()});
  program.measured_on = before;
  const ProgramCheck check = check_of(program, judge(program, runner_of({run_with()})), after, "");
  ASSERT_EQ(check.conditions.size(), 1U);
  EXPECT_EQ(check.conditions[0].sentence, "transparent huge pages: madvise before, always now");
}

}  // namespace
}  // namespace zerotax::baseline
