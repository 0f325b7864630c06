#include <gtest/gtest.h>

#include "base/size.h"
#include "run/experiment.h"

namespace zerotax {
namespace {

MemoryState machine_with(std::uint64_t available) {
  MemoryState memory;
  memory.total = 2 * available;
  memory.available = available;
  return memory;
}

TEST(MemoryGuard, LetsThroughWhatFits) { EXPECT_EQ(why_too_large(kGiB, machine_with(2 * kGiB)), ""); }

TEST(MemoryGuard, CountsAnEighthAndAProcessBesideTheBlock) {
  EXPECT_EQ(why_too_large(kGiB, machine_with(kGiB + kGiB / 8 + 64 * kMiB)), "");
  EXPECT_NE(why_too_large(kGiB, machine_with(kGiB + kGiB / 8 + 64 * kMiB - 1)), "");
}

TEST(MemoryGuard, SaysWhatIsNeededAndWhatThereIs) {
  const std::string reason = why_too_large(8 * kGiB, machine_with(4 * kGiB));
  EXPECT_NE(reason.find("9.06 GiB"), std::string::npos) << reason;
  EXPECT_NE(reason.find("the machine has 4 GiB"), std::string::npos) << reason;
}

TEST(MemoryGuard, HeedsTheCgroup) {
  MemoryState memory = machine_with(64 * kGiB);
  memory.cgroup_limit = kGiB;
  memory.cgroup_available = kGiB / 2;
  EXPECT_NE(why_too_large(kGiB, memory).find("this cgroup has 512 MiB"), std::string::npos);
  EXPECT_EQ(why_too_large(256 * kMiB, memory), "");
}

TEST(MemoryGuard, RunsAuditsSideBySideOnlyIfTheyFit) {
  EXPECT_EQ(audits_side_by_side(kGiB, machine_with(3 * kGiB)), 1U);
  EXPECT_EQ(audits_side_by_side(1000 * kGiB, machine_with(kGiB)), 1U);
  EXPECT_GE(audits_side_by_side(64 * kKiB, machine_with(64 * kGiB)), 1U);
}

TEST(MemoryGuard, NeverLetsAProbeTakeTheWholeMachine) {
  EXPECT_EQ(resident_limit(100 * kMiB, machine_with(20 * kGiB)), 200 * kMiB + kGiB);
  EXPECT_EQ(resident_limit(10 * kGiB, machine_with(12 * kGiB)), 12 * kGiB - 256 * kMiB);
}

}  // namespace
}  // namespace zerotax
