#include "meter/fork_writes.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <csignal>
#include <memory>

#include "meter/faults_meter.h"
#include "small_pages.h"
#include "zero_page.h"

namespace zerotax {
namespace {

/// A fixture with the memory of a probe: an operation's sample in memory that parent and child share, and a block.
class ForkWrites : public testing::Test {
 protected:
  static constexpr std::size_t kPages = 1001;  // a quarter and a half of the pages are rounded up, to 251 and 501
  static inline const std::size_t kBytes = kPages * page_bytes();

  void SetUp() override {
    ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    samples = static_cast<SampleBlock*>(map(sizeof(SampleBlock), MAP_SHARED));
    block = static_cast<unsigned char*>(map(kBytes, MAP_PRIVATE));
    clear_operation(op());
  }
  void TearDown() override {
    ::munmap(samples, sizeof(SampleBlock));
    ::munmap(block, kBytes);
  }
  static void* map(std::size_t bytes, int sharing) {
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    return memory;
  }
  OpSample& op() { return samples->ops[0]; }
  void dirty(std::size_t first, std::size_t end) {
    for (std::size_t page = first; page < end; ++page) block[page * page_bytes() + 7] = 1;
  }
  void run_faults(std::size_t offset = 0) {
    FaultsMeter meter(*samples);
    if (samples->na_classes[0] != '\0') GTEST_SKIP() << &samples->na_classes[0];
    meter.begin_operation(op());
    ASSERT_TRUE(meter.fork_and_write(block + offset, kBytes - offset)) << meter.failure();
  }
  static void expect(const WriteSample& found, std::int64_t copies, std::int64_t reuses, std::int64_t zero_fills) {
    EXPECT_EQ(found.copies, copies);
    EXPECT_EQ(found.reuses, reuses);
    EXPECT_EQ(found.zero_fills, zero_fills);
    EXPECT_EQ(found.other, 0);
  }

  SampleBlock* samples = nullptr;
  unsigned char* block = nullptr;
};

TEST_F(ForkWrites, OfAPopulatedBlockTheChildCopiesAQuarterAndTheParentReusesItAndCopiesTheNext) {
  dirty(0, kPages);
  run_faults();
  if (IsSkipped()) return;
  expect(op().fork.child, 251, 0, 0);
  expect(op().fork.parent, 250, 251, 0);
  EXPECT_EQ(op().fork.populated_bytes, static_cast<std::int64_t>(kBytes));
}

TEST_F(ForkWrites, OfABlockThatNobodyWroteEachFillsItsOwnPagesWithZeros) {
  run_faults();
  if (IsSkipped()) return;
  expect(op().fork.child, 0, 0, 251);
  expect(op().fork.parent, 0, 0, 501);
  EXPECT_EQ(op().fork.populated_bytes, 0);
}

TEST_F(ForkWrites, TheSharedZeroPageIsNoPageToCopy) {
  if (!has_shared_zero_page()) GTEST_SKIP() << "this kernel has no shared zero page";
  for (std::size_t page = 0; page < 300; ++page) {
    [[maybe_unused]] const unsigned char byte = *static_cast<volatile unsigned char*>(block + page * page_bytes());
  }
  run_faults();
  if (IsSkipped()) return;
  expect(op().fork.child, 0, 0, 251);
  expect(op().fork.parent, 0, 0, 501);
}

TEST_F(ForkWrites, TellsPagesApartWhereABlockIsPopulatedInPart) {
  dirty(200, 400);
  run_faults();
  if (IsSkipped()) return;
  expect(op().fork.child, 51, 0, 200);
  expect(op().fork.parent, 149, 51, 301);
  EXPECT_EQ(op().fork.populated_bytes, static_cast<std::int64_t>(200 * page_bytes()));
}

TEST_F(ForkWrites, ABlockThatBeginsWithinAPageHasThatPageAndLeavesTheHeaderAlone) {
  constexpr std::size_t kHeader = 16;
  dirty(0, 1);
  block[kHeader - 1] = 0x77;
  run_faults(kHeader);
  if (IsSkipped()) return;
  expect(op().fork.child, 1, 0, 250);
  expect(op().fork.parent, 0, 1, 500);
  EXPECT_EQ(block[kHeader - 1], 0x77);
  EXPECT_EQ(block[0], 0);
}

TEST_F(ForkWrites, TheChildHasPageTablesForWhatIsPopulatedOnly) {
  ONLY_WITH_SMALL_PAGES();
  run_faults();
  if (IsSkipped()) return;
  const auto page = static_cast<std::int64_t>(page_bytes());
  const std::int64_t empty = op().fork.page_table_bytes;
  ASSERT_GT(empty, 0);
  void* large = map(64 << 20, MAP_PRIVATE);
  for (std::size_t at = 0; at < 64 << 20; at += 2 << 20) static_cast<volatile char*>(large)[at] = 1;
  FaultsMeter meter(*samples);
  meter.begin_operation(op());
  ASSERT_TRUE(meter.fork_and_write(block, kBytes));
  ::munmap(large, 64 << 20);
  // The child needs a page of 512 entries for each 2 MiB. The mapping need not begin at a multiple of 2 MiB, so it may
  // need another page of entries and a page of the next level.
  EXPECT_GE(op().fork.page_table_bytes - empty, 31 * page);
  EXPECT_LE(op().fork.page_table_bytes - empty, 42 * page);
}

TEST_F(ForkWrites, TheTimingPassCountsAFaultForEachPageAndNothingElse) {
  dirty(0, kPages);
  TimingMeter meter;
  meter.begin_operation(op());
  ASSERT_TRUE(meter.fork_and_write(block, kBytes));
  EXPECT_EQ(op().fork.child.faults, 251);
  EXPECT_EQ(op().fork.parent.faults, 501);
  EXPECT_GT(op().fork.fork_ns, 0);
  EXPECT_GT(op().fork.exit_ns, 0);
  EXPECT_GT(op().fork.child.write_ns, 0);
  EXPECT_EQ(op().fork.child.copies, kNotMeasured);
}

TEST_F(ForkWrites, OtherPassesForkAndWriteToo) {
  BareMeter meter;
  ASSERT_TRUE(meter.fork_and_write(block, kBytes));
  for (std::size_t page = 0; page < kPages; ++page) EXPECT_EQ(block[page * page_bytes()] != 0, page < 501) << page;
}

TEST_F(ForkWrites, AChildThatIsKilledIsAFailureWithItsReason) {
  class Suicide : public ForkSteps {
    void child_begins() override { ::raise(SIGKILL); }
  } steps;
  EXPECT_STREQ(fork_and_write(block, kBytes, steps, op().fork),
               "the forked child was killed during its writes (out of memory?)");
}

}  // namespace
}  // namespace zerotax
