#include "os/load.h"

#include <gtest/gtest.h>

namespace zerotax {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(Load, IsBusyFromHalfAProcessForEachCpuOn) {
  EXPECT_EQ(load_level(0.19, 2), LoadLevel::kQuiet);
  EXPECT_EQ(load_level(0.2, 2), LoadLevel::kNoisy);
  EXPECT_EQ(load_level(1.0, 2), LoadLevel::kBusy);
}

TEST(Load, AtTheStartMakesAMeasurementOneUnderLoad) {
  const Load load = load_between({1.0, 0, {}, 0}, {3.0, kSecond, {}, 0}, 2);
  EXPECT_TRUE(load.busy);
  EXPECT_EQ(load.sentence, "Measured under load: load average 1.00 at the start and 3.00 at the end, 2 CPUs.");
}

TEST(Load, AtTheEndMayBeOurOwn) {
  EXPECT_FALSE(load_between({0.1, 0, {}, 0}, {3.0, kSecond, {}, 0}, 2).busy);
  // Both CPUs are busy for ten seconds, but only with work of this process.
  EXPECT_FALSE(load_between({0.1, 0, 0, 0}, {3.0, 10 * kSecond, 20 * kSecond, 20 * kSecond}, 2).busy);
}

TEST(Load, OfOthersCountsWhateverTheAverageSays) {
  const Load load = load_between({0.1, 0, 0, 0}, {0.2, kSecond, 1000 * kSecond, 0}, 2);
  EXPECT_TRUE(load.busy);
  EXPECT_EQ(*load.others_cpus, 1000);
}

// The load average at the start may result from building zerotax.
TEST(Load, BeforeTheStartIsNone) {
  EXPECT_FALSE(load_between({2.7, 0, 0, 0}, {1.4, 10 * kSecond, 20 * kSecond, 20 * kSecond}, 2).busy);
}

TEST(Load, IsNotAvailableWhereNothingSaysSo) {
  const Load load = load_between({}, {}, 1);
  EXPECT_FALSE(load.start || load.others_cpus);
  EXPECT_FALSE(load.busy);
}

TEST(Load, IsReadHere) {
  const LoadReading now = read_load();
  EXPECT_GT(now.now_ns, 0);
  EXPECT_GE(allowed_cpus(), 1U);
  EXPECT_FALSE(load_between(now, read_load()).sentence.empty());
}

}  // namespace
}  // namespace zerotax
