#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cow/result.h"
#include "os/page.h"
#include "round_trips.h"
#include "small_pages.h"

namespace zerotax::cow {
namespace {

IntervalProcess process(bool child, std::uint64_t copies, pid_t pid = 7, std::uint64_t zero_fills = 0) {
  IntervalProcess made;
  made.pid = pid;
  made.child = child;
  made.counts.copies = copies;
  made.counts.zero_fills = zero_fills;
  return made;
}

using Processes = std::vector<IntervalProcess>;

Cow cow_of(std::uint64_t copied_bytes) {
  Cow cow;
  cow.command = {"./server", "--fast"};
  cow.pid = 4711;
  cow.counted = "all";
  cow.interval_s = 0.5;
  cow.totals.copies = copied_bytes / page_bytes();
  cow.totals.copied_bytes = copied_bytes;
  return cow;
}

/// The verdict on these intervals of half a second.
Verdict judged(const std::vector<Processes>& intervals, std::uint64_t copied_bytes) {
  Cow cow = cow_of(copied_bytes);
  double from = 0;
  for (const Processes& processes : intervals) {
    cow.intervals.push_back({from, from + 0.5, 0, 0, {}, processes});
    from += 0.5;
  }
  return cow_verdict(cow);
}

/// The intervals of an only child, with its copies and zero-fills in each.
std::vector<Processes> child_of(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& counts) {
  std::vector<Processes> intervals{{process(false, 0)}};
  for (const auto& [copies, zero_fills] : counts)
    intervals.push_back({process(false, 0), process(true, copies, 8, zero_fills)});
  return intervals;
}

TEST(CowVerdict, SaysWhoCopiedWhereThereAreChildren) {
  ONLY_WITH_SMALL_PAGES();
  const Processes both{process(false, 100), process(true, 300, 8), process(true, 200, 9)};
  EXPECT_EQ(*judged({{process(false, 1200)}, both}, 1800 * page_bytes()).sentence,
            "1,800 pages copied (7.03 MiB): 1,300 by the parent, 500 by its children.");
  EXPECT_EQ(*judged({{process(false, 1)}}, 4096).sentence, "1 page copied (4 KiB).");
}

TEST(CowVerdict, SaysWhenAnOnlyChildsCopyingEnded) {
  ONLY_WITH_SMALL_PAGES();
  const Verdict verdict = judged(child_of({{600, 10}, {395, 20}, {2, 900}, {0, 800}, {3, 700}}), 1000 * page_bytes());
  EXPECT_EQ(*verdict.copying_ended, (CopyingEnd{1.5, 0.5, 3.0, 995, 5, 30, 2400}));
  EXPECT_EQ(*verdict.sentence,
            "1,000 pages copied (3.91 MiB): 0 by the parent, 1,000 by its children; 99.5 % of the child's came in the "
            "first 1 of its 2.5 s, in which it got 30 pages of zeros, and 2,400 in the rest.");
}

TEST(CowVerdict, SaysWhyItIsNotKnownWhenCopyingEnded) {
  const auto why = [](const std::vector<Processes>& intervals) { return judged(intervals, 0).copying_ended.why(); };
  EXPECT_EQ(why(child_of({})), "there is not exactly one child");
  EXPECT_EQ(why({{process(true, 500, 8), process(true, 500, 9)}}), "there is not exactly one child");
  EXPECT_EQ(why(child_of({{99, 0}, {0, 0}, {0, 0}})), "the child copied fewer than 100 pages");
  EXPECT_EQ(why(child_of({{50, 0}, {50, 0}, {0, 0}})), "the child copied in most of its intervals");
}

TEST(CowVerdict, NotesSayWhatWasWatchedAndHow) {
  constexpr const char* kHow =
      "; counted: all; by tracepoints. Faults per interval of 0.5 s; the last one may be shorter.";
  Cow cow = cow_of(0);
  const auto note_of = [](const Cow& watched) { return cow_verdict(watched).notes->at(0); };
  EXPECT_EQ(note_of(cow), fmt::format("./server --fast{}", kHow));
  cow.command.clear();
  EXPECT_EQ(note_of(cow), fmt::format("process 4711{}", kHow));
  std::string many;
  for (int i = 0; i < 200; ++i) many += "µ";
  cow.command = {many};
  // The command line is cut after 159 letters of two bytes each.
  EXPECT_EQ(note_of(cow), fmt::format("{}…{}", many.substr(0, 318), kHow));
  EXPECT_EQ(cow_verdict(cow).notes->size(), 1U);
}

TEST(CowVerdict, OfSeveralProcessesWhatForkItselfCopiesIsNotAvailable) {
  Cow cow = cow_of(0);
  cow.processes.resize(2);
  EXPECT_NE(cow_verdict(cow).notes->back().find("which fork itself copies without a fault"), std::string::npos);
}

TEST(CowVerdict, LostEventsAreToldOfAndNothingElseIs) {
  Cow cow = cow_of(0);
  cow.totals.lost = 1234;
  EXPECT_EQ(cow_verdict(cow).notes->at(1), "1,234 events were lost: the counts are too low.");
  cow.totals.lost = 1;
  EXPECT_EQ(cow_verdict(cow).notes->at(1), "1 event was lost: the counts are too low.");
}

TEST(CowDocument, CommittedFilesComeBackByteForByte) {
  expect_round_trips("zerotax.cow/1", [](const Json& json) { return cow_json(read_cow(json)); });
}

}  // namespace
}  // namespace zerotax::cow
