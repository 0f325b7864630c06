#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <vector>

#include "base/size.h"
#include "cow/result.h"

namespace zerotax::cow {
namespace {

class CowLines : public ::testing::Test {
 protected:
  CowLines() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }

  static FaultInterval::Process process(bool child, std::uint64_t copies) {
    FaultInterval::Process made;
    made.child = child;
    made.name = "server";
    made.counts.copies = copies;
    made.counts.zero_fills = 31'822;
    made.counts.copied_bytes = copies * 4096;
    made.memory.rss = 64 * kMiB;
    return made;
  }

  /// An interval of one second that ended at 13:04:05.4 UTC, three seconds after watching began.
  static FaultInterval interval() {
    FaultInterval made;
    made.from_s = 2;
    made.to_s = 3;
    made.ended_at = 13 * 3600 + 4 * 60 + 5.4;
    return made;
  }

  static std::vector<std::string> lines_of(const FaultInterval& interval, bool tenths = false,
                                           std::size_t columns = 0) {
    std::vector<std::string> lines;
    std::istringstream text(cow_lines(interval, tenths, columns));
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
};

TEST_F(CowLines, OfOneProcessAreOneLine) {
  FaultInterval made = interval();
  made.processes[100] = process(false, 243);
  const auto lines = lines_of(made);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].starts_with("13:04:05 all                 243       0     31,822   972 KiB    64 MiB @@@@ "))
      << lines[0];
  EXPECT_TRUE(lines_of(made, true)[0].starts_with("04:05.4  all ")) << lines_of(made, true)[0];
}

TEST_F(CowLines, HaveBarsThatTellFewCopiesFromMany) {
  FaultInterval made = interval();
  const auto bar_of = [&](std::uint64_t copies) {
    made.processes[100] = process(false, copies);
    const std::string line = lines_of(made)[0];
    return std::count(line.begin(), line.end(), '@');
  };
  EXPECT_EQ(bar_of(0), 0);
  EXPECT_EQ(bar_of(1), 1);
  EXPECT_EQ(bar_of(3), 1);
  EXPECT_EQ(bar_of(4), 2);
  EXPECT_EQ(bar_of(243), 4);
  EXPECT_EQ(bar_of(15'729), 7);
}

TEST_F(CowLines, HaveALineForEachProcessTheBusiestChildrenFirst) {
  FaultInterval made = interval();
  made.processes[100] = process(false, 5);
  for (int n = 1; n <= 12; ++n) made.processes[100 + n] = process(true, static_cast<std::uint64_t>(n) * 10);
  const auto lines = lines_of(made);
  ASSERT_EQ(lines.size(), 11U);
  EXPECT_TRUE(lines[1].starts_with("         parent 100            5 ")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("         child 112           120 ")) << lines[2];
  EXPECT_TRUE(lines[9].starts_with("         child 105            50 ")) << lines[9];
  EXPECT_TRUE(lines[10].starts_with("         4 more              100 ")) << lines[10];
}

TEST_F(CowLines, SayWhichChildrenBeganAndEnded) {
  FaultInterval made = interval();
  made.processes[100] = process(false, 5);
  made.changes = {{2.1, 101, 100, "server", true}, {2.9, 101, 100, "server", false}};
  made.began = 4;
  made.ended = 3;
  const auto lines = lines_of(made);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "13:04:04 child 101 began: server, forked by 100");
  EXPECT_EQ(lines[1], "13:04:05 child 101 ended");
  EXPECT_EQ(lines[2], "13:04:05 3 more children began, 2 more ended");
}

TEST_F(CowLines, AreCutAtTheWidthOfTheTerminalAndTheHeadingWithThem) {
  FaultInterval made = interval();
  made.processes[100] = process(false, 15'729);
  // The last character is "…", which takes three bytes.
  EXPECT_EQ(lines_of(made, false, 80)[0].size(), 82U);
  const std::string heading = cow_heading(80);
  EXPECT_EQ(heading.size() - heading.find("time "), 83U);
  const std::string whole = cow_heading();
  EXPECT_EQ(whole.find("zero-fills") - whole.find("time "), lines_of(made)[0].find("    31,822"));
}

TEST_F(CowLines, ExplainTheBarAndUnknownMemoryOnce) {
  EXPECT_NE(cow_heading().find("Each further @ stands for 4 times as many copies.\n"), std::string::npos);
  EXPECT_NE(cow_heading().find("-: no process is alive at the end of the interval, "), std::string::npos);
}

}  // namespace
}  // namespace zerotax::cow
