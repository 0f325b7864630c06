#include <gtest/gtest.h>

#include "findings_testing.h"
#include "study/points_table.h"

namespace zerotax::study {

namespace {

constexpr PlotStyle kAscii{80, false};

/// Points that are zeroed needlessly up to 4 MiB and not at all from 16 MiB on, so a threshold lies between these
/// sizes.
std::vector<Json> with_threshold() {
  std::vector<Json> points;
  for (const std::uint64_t size : {kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB}) {
    const std::uint64_t zeroed = size <= 4 * kMiB ? size : 0;
    points.push_back(point_of(Made{.size = size, .zeroed = zeroed, .redundant = zeroed, .ns = zeroed > 0 ? 1e6 : 1e3}));
  }
  return points;
}

std::size_t dots_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '.'));
}

TEST(PointsPlot, JoinsNoPointsAcrossAThreshold) {
  const std::string broken = points_plot(typed_points(with_threshold()), kAscii);
  EXPECT_NE(broken.find("calloc_loop, touch 0"), std::string::npos);
  EXPECT_NE(broken.find("o a\n"), std::string::npos) << "the name is beside the last point:\n" << broken;
  std::vector<Json> alike = with_threshold();
  for (Json& point : alike) point["zeroed_bytes"] = point["redundant_zeroed_bytes"] = 0;
  EXPECT_LT(dots_in(broken), dots_in(points_plot(typed_points(alike), kAscii))) << broken;
}

TEST(PointsPlot, LeavesOutWhatHasNoTimeAndEndsThePieceThere) {
  std::vector<Json> points = with_threshold();
  points[1]["status"] = "crashed";
  points[1]["reason"] = "signal 6";
  points[1]["first_ops"] = Json::array();
  const std::string text = points_plot(typed_points(points), kAscii);
  EXPECT_EQ(std::count(text.begin(), text.end(), 'o') > 0, true);
  EXPECT_LT(dots_in(text), dots_in(points_plot(typed_points(with_threshold()), kAscii)));
}

TEST(PointsPlot, NeedsTwoSizesAndDrawsEachTouchAlone) {
  EXPECT_EQ(points_plot(typed_points({point_of(Made{.size = kMiB})}), kAscii), "");
  std::vector<Json> points = with_threshold();
  for (const std::uint64_t size : {kMiB, 4 * kMiB}) points.push_back(point_of(Made{.size = size, .touch = 1}));
  const std::string text = points_plot(typed_points(points), kAscii);
  EXPECT_NE(text.find("touch 0\n"), std::string::npos);
  EXPECT_NE(text.find("touch 1\n"), std::string::npos);
}

}  // namespace
}  // namespace zerotax::study
