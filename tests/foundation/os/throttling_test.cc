#include <gtest/gtest.h>
#include <unistd.h>

#include "os/cgroup.h"

namespace zerotax {
namespace {

TEST(Throttling, IsInCpuStatOfBothVersions) {
  EXPECT_EQ(parse_throttled_ns("usage_usec 9\nnr_periods 3\nnr_throttled 1\nthrottled_usec 520\n"), 520'000U);
  EXPECT_EQ(parse_throttled_ns("nr_periods 3\nnr_throttled 1\nthrottled_time 520000\n"), 520'000U);
  EXPECT_EQ(parse_throttled_ns("usage_usec 9\n"), 0U) << "a group without the controller has no quota";
}

TEST(Throttling, OfAProcessThatIsGoneIsUnknown) { EXPECT_FALSE(Throttling(4'194'304).since()); }

}  // namespace
}  // namespace zerotax
