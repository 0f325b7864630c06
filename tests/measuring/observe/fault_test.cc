#include "observe/fault.h"

#include <gtest/gtest.h>

#include "os/kernel_version.h"
#include "small_pages.h"

namespace zerotax {
namespace {

constexpr std::uint64_t kRead = 4;
constexpr std::uint64_t kWrite = 6;
constexpr std::uint64_t kWriteProtected = 7;

FaultEvent event(FaultEvent::Kind kind, pid_t tid, std::uint64_t time_ns) {
  FaultEvent event;
  event.kind = kind;
  event.pid = 10;
  event.tid = tid;
  event.time_ns = time_ns;
  return event;
}

FaultEvent begin(pid_t tid, std::uint64_t time_ns, std::uint64_t error_code) {
  FaultEvent made = event(FaultEvent::Kind::kBegin, tid, time_ns);
  made.error_code = error_code;
  return made;
}

FaultEvent at_address(FaultEvent event, std::uint64_t address) {
  event.address = address;
  return event;
}

Fault fault_of_code(std::uint64_t error_code) {
  Fault made;
  made.begin_ns = 1;
  made.end_ns = 2;
  made.error_code = error_code;
  return made;
}

Fault allocating(std::uint64_t error_code, bool zeroed, unsigned order = 0) {
  Fault made = fault_of_code(error_code);
  made.allocated = true;
  made.zeroed = zeroed;
  made.order = order;
  return made;
}

const Region kAnonymous{0x1000, 0x2000, 0, false, false, ""};
const Region kPrivateFile{0x1000, 0x2000, 0, false, false, "/lib/x.so"};
const Region kDevZero{0x1000, 0x2000, 0, false, false, "/dev/zero"};
const Region kShared{0x1000, 0x2000, 0, true, false, "/dev/zero"};
const Region kHugetlb{0x1000, 0x2000, 0, false, true, "/anon_hugepage"};

TEST(Fault, AWriteToAProtectedPageIsACopyAReuseOrAZeroFillByWhatItAllocates) {
  EXPECT_EQ(classify(allocating(kWriteProtected, false), &kAnonymous), FaultClass::kCopy);
  EXPECT_EQ(classify(fault_of_code(kWriteProtected), &kAnonymous), FaultClass::kReuse);
  EXPECT_EQ(classify(allocating(kWriteProtected, true), &kAnonymous), FaultClass::kZeroFill);
  EXPECT_EQ(classify(allocating(kWriteProtected, false), nullptr), FaultClass::kCopy);
  if (!kernel_is_at_least(5, 8)) return;
  EXPECT_EQ(classify(allocating(kWriteProtected, false, 9), &kAnonymous), FaultClass::kZeroFill)
      << "huge page of zeros";
}

TEST(Fault, TheKernelsOwnFaultsFollowTheSameRules) {
  EXPECT_EQ(classify(allocating(3, false), &kAnonymous), FaultClass::kCopy);
  EXPECT_TRUE(fault_of_code(3).in_kernel());
  EXPECT_FALSE(fault_of_code(kWriteProtected).in_kernel());
}

TEST(Fault, ANewAnonymousPageIsAZeroFillUnlessItCameFromElsewhere) {
  EXPECT_EQ(classify(allocating(kWrite, true), &kAnonymous), FaultClass::kZeroFill);
  EXPECT_EQ(classify(allocating(kWrite, false, 9), &kAnonymous), FaultClass::kZeroFill) << "a huge page";
  Fault swapped = allocating(kWrite, false);
  swapped.major = true;
  EXPECT_EQ(classify(swapped, &kAnonymous), FaultClass::kOther) << "from swap";
  EXPECT_EQ(classify(allocating(kWrite, false), &kAnonymous), FaultClass::kCopy)
      << "a page of a file that mremap moved there";
  EXPECT_EQ(classify(fault_of_code(kRead), &kAnonymous), FaultClass::kOther) << "the shared zero page";
}

TEST(Fault, APageOfAFileIsCopiedByAPrivateWriteAndMappedByARead) {
  EXPECT_EQ(classify(allocating(kWrite, false), &kPrivateFile), FaultClass::kCopy);
  EXPECT_EQ(classify(allocating(kWriteProtected, false), &kPrivateFile), FaultClass::kCopy);
  EXPECT_EQ(classify(fault_of_code(kRead), &kPrivateFile), FaultClass::kFile);
  EXPECT_EQ(classify(fault_of_code(kWriteProtected), &kShared), FaultClass::kFile);
  EXPECT_EQ(classify(allocating(kWrite, true), &kDevZero), FaultClass::kZeroFill) << "anonymous memory by another name";
  EXPECT_EQ(classify(allocating(kWriteProtected, false), &kDevZero), FaultClass::kCopy);
  EXPECT_EQ(classify(allocating(kWrite, false), &kShared), FaultClass::kFile);
}

TEST(Fault, WhatCannotBeToldIsOther) {
  EXPECT_EQ(classify(fault_of_code(kWriteProtected), &kHugetlb), FaultClass::kOther);
  Fault unfinished = allocating(kWriteProtected, false);
  unfinished.end_ns = 0;
  EXPECT_EQ(classify(unfinished, &kAnonymous), FaultClass::kOther);
}

TEST(FaultPairing, EventsOfTwoThreadsAreKeptApart) {
  FaultPairing pairing;
  EXPECT_TRUE(pairing.apply(begin(1, 100, kWriteProtected)).empty());
  EXPECT_TRUE(pairing.apply(begin(2, 110, kWriteProtected)).empty());
  EXPECT_TRUE(pairing.apply(event(FaultEvent::Kind::kAllocation, 2, 120)).empty());
  const std::vector<Fault> first = pairing.apply(event(FaultEvent::Kind::kEnd, 1, 130));
  const std::vector<Fault> second = pairing.apply(event(FaultEvent::Kind::kEnd, 2, 140));
  ASSERT_TRUE(first.size() == 1 && second.size() == 1);
  EXPECT_FALSE(first[0].allocated);
  EXPECT_TRUE(second[0].allocated);
  EXPECT_EQ(first[0].end_ns - first[0].begin_ns, 30U);
}

TEST(FaultPairing, AFaultWithoutAnEndIsToldWhenTheNextOneBegins) {
  FaultPairing pairing;
  EXPECT_TRUE(pairing.apply(begin(1, 100, kWrite)).empty());
  const std::vector<Fault> unfinished = pairing.apply(begin(1, 200, kWrite));
  ASSERT_EQ(unfinished.size(), 1U);
  EXPECT_EQ(unfinished[0].end_ns, 0U);
  EXPECT_EQ(unfinished[0].begin_ns, 100U);
}

TEST(FaultPairing, AnInterruptsOwnFaultTakesNothingFromTheOneItCameAmid) {
  for (const bool before : {true, false}) {  // the fault's allocation comes before the interrupt, or after it
    FaultPairing pairing;
    const FaultEvent allocation = event(FaultEvent::Kind::kAllocation, 1, before ? 110 : 130);
    EXPECT_TRUE(pairing.apply(at_address(begin(1, 100, kWriteProtected), 0x1234)).empty());
    if (before) {
      EXPECT_TRUE(pairing.apply(allocation).empty());
    }
    EXPECT_TRUE(pairing.apply(at_address(begin(1, 120, 0), 0x9000)).empty());
    if (!before) {
      EXPECT_TRUE(pairing.apply(allocation).empty());
    }
    const std::vector<Fault> over = pairing.apply(at_address(event(FaultEvent::Kind::kEnd, 1, 140), 0x1234));
    ASSERT_EQ(over.size(), 2U);
    EXPECT_EQ(classify(over[0], &kAnonymous), FaultClass::kCopy);
    EXPECT_EQ(over[0].end_ns - over[0].begin_ns, 40U);
    EXPECT_EQ(classify(over[1], nullptr), FaultClass::kOther);
    EXPECT_EQ(over[1].address, 0x9000U);
    EXPECT_TRUE(pairing.apply(at_address(begin(1, 200, kWrite), 0x5000)).empty()) << "no fault is open any more";
  }
}

TEST(FaultPairing, AFaultThatEndsShowsThatTheOneBeforeItHadLostItsEnd) {
  FaultPairing pairing;  // the fault is on a signal frame, which the kernel writes
  EXPECT_TRUE(pairing.apply(at_address(begin(1, 100, kWrite), 0)).empty());
  EXPECT_TRUE(pairing.apply(at_address(begin(1, 120, 2), 0x7000)).empty());
  const std::vector<Fault> over = pairing.apply(at_address(event(FaultEvent::Kind::kEnd, 1, 140), 0x7000));
  ASSERT_EQ(over.size(), 2U);
  EXPECT_EQ(over[0].end_ns, 0U);
  EXPECT_EQ(over[1].end_ns, 140U);
}

TEST(FaultPairing, FaultsThatNeverEndDoNotPileUp) {
  FaultPairing pairing;
  std::size_t over = 0;
  for (std::uint64_t time = 0; time < 1000; ++time)
    over += pairing.apply(at_address(begin(1, time, 0), time << 12)).size();
  EXPECT_GE(over, 990U);
}

TEST(FaultPairing, AnEndWhoseBeginWasLostEndsNothing) {
  ONLY_WITH_SMALL_PAGES();
  FaultPairing pairing;
  EXPECT_TRUE(pairing.apply(at_address(begin(1, 100, kWrite), 0x1000)).empty());
  EXPECT_TRUE(pairing.apply(at_address(event(FaultEvent::Kind::kEnd, 1, 110), 0x2000)).empty());
  EXPECT_EQ(pairing.apply(at_address(event(FaultEvent::Kind::kEnd, 1, 120), 0x1abc)).size(), 1U);
}

TEST(FaultPairing, WhatIsAllocatedOutsideAFaultBelongsToNone) {
  FaultPairing pairing;
  EXPECT_TRUE(pairing.apply(event(FaultEvent::Kind::kAllocation, 1, 90)).empty());
  EXPECT_TRUE(pairing.apply(event(FaultEvent::Kind::kEnd, 1, 95)).empty());
  EXPECT_TRUE(pairing.apply(begin(1, 100, kWriteProtected)).empty());
  EXPECT_FALSE(pairing.apply(event(FaultEvent::Kind::kEnd, 1, 110)).at(0).allocated);
}

FaultEvent allocation_of_program(pid_t tid, std::uint64_t time_ns, bool zeroed = false) {
  FaultEvent made = event(FaultEvent::Kind::kAllocation, tid, time_ns);
  made.of_program = true;
  made.zeroed = zeroed;
  return made;
}

TEST(FaultPairing, PagesThatNoHandledFaultAllocatedAreOfSystemCalls) {
  FaultPairing pairing;
  const auto apply = [&](const FaultEvent& event) { static_cast<void>(pairing.apply(event)); };
  apply(begin(1, 100, kWriteProtected));
  apply(allocation_of_program(1, 110));
  apply(event(FaultEvent::Kind::kEnd, 1, 120));
  apply(event(FaultEvent::Kind::kAllocation, 1, 130));  // this page was allocated for a file
  EXPECT_EQ(pairing.in_system_calls().copies, 0U);
  apply(allocation_of_program(1, 140));
  apply(allocation_of_program(2, 150, true));
  EXPECT_EQ(pairing.in_system_calls().copies, 1U);
  EXPECT_EQ(pairing.in_system_calls().zero_fills, 1U);
  apply(begin(1, 200, kWrite));  // this fault ends in a signal, whose handler causes an allocation
  apply(allocation_of_program(1, 210));
  EXPECT_EQ(pairing.in_system_calls().copies, 2U) << "as far as is known";
  apply(begin(1, 300, kWrite));
  apply(event(FaultEvent::Kind::kEnd, 1, 310));
  EXPECT_EQ(pairing.in_system_calls().copies, 2U);
}

TEST(FaultPairing, APageThatCannotBeMovedIsNotOfAFault) {
  FaultPairing pairing;
  FaultEvent pinned = allocation_of_program(1, 110);
  pinned.movable = false;
  static_cast<void>(pairing.apply(begin(1, 100, kWriteProtected)));
  static_cast<void>(pairing.apply(pinned));
  EXPECT_FALSE(pairing.apply(event(FaultEvent::Kind::kEnd, 1, 120)).at(0).allocated);
}

TEST(FaultCounts, BytesFollowTheSizeOfThePages) {
  ONLY_WITH_SMALL_PAGES();
  FaultCounts counts;
  counts.add(allocating(kWrite, false, 9), FaultClass::kZeroFill);
  counts.add(allocating(kWriteProtected, false), FaultClass::kCopy);
  EXPECT_EQ(counts.zeroed_bytes, std::uint64_t{2} << 20);
  EXPECT_EQ(counts.copied_bytes, 4096U);
  EXPECT_EQ(counts.all(), 2U);
}

}  // namespace
}  // namespace zerotax
