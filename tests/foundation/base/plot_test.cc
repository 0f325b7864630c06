// Expected pictures, which a person checked when they were written.
#include <gtest/gtest.h>

#include "base/plot_canvas.h"
#include "base/plots.h"
#include "base/size.h"

namespace zerotax {
namespace {

constexpr PlotStyle kAscii{60, false};
constexpr PlotStyle kUnicode{60, true};

/// Returns the width of the widest line, in characters.
std::size_t width_of(const std::string& text) {
  std::size_t widest = 0;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    widest = std::max(widest, characters_of(text.substr(begin, end - begin)).size());
    begin = end + 1;
  }
  return widest;
}

std::vector<PlotLine> two_lines() {
  constexpr double kMiBs = 1 << 20;
  return {{"glibc", {{{kMiBs, 1e3}, {4 * kMiBs, 4e3}, {16 * kMiBs, 16e3}}, {{64 * kMiBs, 64e6}}}},
          {"a", {{{kMiBs, 100}, {64 * kMiBs, 200}}}}};
}

TEST(LogAxis, SetsItsEndsOnTheFirstAndTheLastCell) {
  const LogAxis axis(1024, 1024 * 1024, 11);
  EXPECT_DOUBLE_EQ(axis.place(1024), 0);
  EXPECT_DOUBLE_EQ(axis.place(32 * 1024), 5);
  EXPECT_DOUBLE_EQ(axis.place(1024 * 1024), 10);
}

TEST(LogAxis, LeavesOutTicksThatWouldMeet) {
  const auto room = [](const std::string& text) { return static_cast<double>(text.size() + 1); };
  const LogAxis axis(64 * kKiB, 64 * kMiB, 50);
  const std::vector<AxisTick> ticks = axis.ticks(2, size_on_axis, room);
  ASSERT_GE(ticks.size(), 2U);
  for (std::size_t i = 1; i < ticks.size(); ++i) {
    EXPECT_GE(ticks[i].place - ticks[i - 1].place, static_cast<double>(ticks[i].text.size()) / 2);
  }
}

TEST(LogAxis, OfOneValueHasAScaleNevertheless) {
  const LogAxis axis(kMiB, kMiB, 21);
  EXPECT_DOUBLE_EQ(axis.place(kMiB), 10);
}

TEST(LogAxis, WithoutTwoPowersNamesItsEnds) {
  const LogAxis axis(1100, 1900, 30);
  const std::vector<AxisTick> ticks = axis.ticks(2, size_on_axis, [](const std::string&) { return 5.0; });
  ASSERT_EQ(ticks.size(), 2U);
  EXPECT_EQ(ticks.front().text, "1.07 KiB");
}

TEST(LinePlot, DrawsPiecesApartAndNamesEachLineAtItsLastPoint) {
  EXPECT_EQ(line_plot("calloc_loop, touch 0", "size asked of calloc", "time of one calloc", two_lines(), kAscii),
            R"plot(calloc_loop, touch 0
time of one calloc
        |                                            o glibc
        |
10.0 ms +
        |
        |
1.00 ms +
        |
 100 us +
        |
        |                            .o
10.0 us +                  ..........
        |         ......o...
1.00 us +o........
        |
        |                             ...............x a
 100 ns +x............................
        ++------+-------+------+------+-------+------+
       1 MiB  2 MiB   4 MiB  8 MiB 16 MiB  32 MiB 64 MiB
                     size asked of calloc
)plot");
}

TEST(LinePlot, DrawsBrailleWhereUnicodeCanBeShown) {
  EXPECT_EQ(line_plot("calloc_loop, touch 0", "size asked of calloc", "time of one calloc", two_lines(), kUnicode),
            R"plot(calloc_loop, touch 0
time of one calloc
        │                                            ● glibc
        │
10.0 ms ┤
        │
        │
1.00 ms ┤
        │
 100 µs ┤
        │
        │                            ⣀●
10.0 µs ┤                  ⢀⣀⣀⠤⠤⠒⠒⠊⠉⠉
        │         ⣀⣀⡠⠤⠤⠒●⠊⠉⠁
1.00 µs ┤●⣀⠤⠤⠔⠒⠊⠉⠉
        │
        │                             ⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⠤▲ a
 100 ns ┤▲⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
        └┬──────┬───────┬──────┬──────┬───────┬──────┬
       1 MiB  2 MiB   4 MiB  8 MiB 16 MiB  32 MiB 64 MiB
                     size asked of calloc
)plot");
}

TEST(LinePlot, KeepsToTheColumnsAndToAscii) {
  std::vector<PlotLine> lines = two_lines();
  lines[0].label = "a name that is longer than any label may be";
  for (const std::size_t columns : {60U, 80U, 160U}) {
    for (const bool unicode : {false, true}) {
      const std::string text = line_plot("t", "size", "time in µs", lines, {columns, unicode});
      EXPECT_LE(width_of(text), columns);
      if (unicode) continue;
      for (const char each : text) EXPECT_GE(each, '\n') << "ASCII alone";
    }
  }
}

TEST(LinePlot, OfNothingIsEmpty) {
  EXPECT_EQ(line_plot("t", "x", "y", {}, kAscii), "");
  EXPECT_EQ(line_plot("t", "x", "y", {{"a", {{{0, 5}, {5, 0}}}}}, kAscii), "") << "nothing can be plotted at 0";
}

TEST(StripPlot, DrawsWhatHoldsAtEachSizeAndMarksTheChanges) {
  const std::vector<PlotKind> kinds{{"░", ".", "keeps"}, {"█", "#", "zeroes needlessly"}, {"?", "?", "not known"}};
  const std::vector<PlotStrip> strips{
      {"glibc touch 0", {{64 * kKiB, kMiB - 1, 0}, {kMiB, 64 * kMiB, 1}}, {kMiB}},
      {"scudo touch 0 worker", {{64 * kKiB, 64 * kMiB, 0}}, {}},
  };
  EXPECT_EQ(strip_plot("What calloc does, by size", "size asked of calloc", strips, kinds, kAscii),
            R"plot(What calloc does, by size
glibc touch 0        ..............|######################
scudo touch 0 worker .....................................
                     -------+----------+----------+-------
                         256 KiB     2 MiB     16 MiB
                             size asked of calloc
. keeps   # zeroes needlessly   | changes here
)plot");
  EXPECT_EQ(strip_plot("What calloc does, by size", "size asked of calloc", strips, kinds, kUnicode),
            R"plot(What calloc does, by size
glibc touch 0        ░░░░░░░░░░░░░░│██████████████████████
scudo touch 0 worker ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
                     ───────┬──────────┬──────────┬───────
                         256 KiB     2 MiB     16 MiB
                             size asked of calloc
░ keeps   █ zeroes needlessly   │ changes here
)plot");
}

TEST(IntervalPlot, DrawsRatiosAroundOne) {
  const std::vector<PlotInterval> rows{{"1  64 KiB touch 0", 1.0, 0.98, 1.03, "SAME"},
                                       {"2  1 MiB touch 0", 3.5, 3.0, 4.0, "SLOWER"},
                                       {"3  20 MiB touch 0", 0.25, std::nullopt, std::nullopt, "AMBIGUOUS"},
                                       {"4  100 MiB touch 0", std::nullopt, std::nullopt, std::nullopt, "INVALID"}};
  EXPECT_EQ(interval_plot("Ratio of each point", "time of NEW / OLD", rows, kAscii),
            R"plot(Ratio of each point
1  64 KiB touch 0                |o               SAME
2  1 MiB touch 0                  :          |-o| SLOWER
3  20 MiB touch 0  o              :               AMBIGUOUS
4  100 MiB touch 0                :               INVALID
                   +------+-------+------+------+
                 0.25    0.5      1      2      4
                         time of NEW / OLD
)plot");
  EXPECT_EQ(interval_plot("Ratio of each point", "time of NEW / OLD", rows, kUnicode),
            R"plot(Ratio of each point
1  64 KiB touch 0                ├●               SAME
2  1 MiB touch 0                  ┊          ├─●┤ SLOWER
3  20 MiB touch 0  ●              ┊               AMBIGUOUS
4  100 MiB touch 0                ┊               INVALID
                   ┬──────┬───────┬──────┬──────┬
                 0.25    0.5      1      2      4
                         time of NEW / OLD
)plot");
  EXPECT_EQ(interval_plot("t", "r", {{"1", std::nullopt, std::nullopt, std::nullopt, "INVALID"}}, kAscii), "");
}

}  // namespace
}  // namespace zerotax
