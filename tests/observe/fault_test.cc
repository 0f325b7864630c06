#include "observe/fault.h"

#include <gtest/gtest.h>

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

Fault fault(std::uint64_t error_code) {
  Fault made;
  made.begin_ns = 1;
  made.end_ns = 2;
  made.error_code = error_code;
  return made;
}

Fault allocating(std::uint64_t error_code, bool zeroed, unsigned order = 0) {
  Fault made = fault(error_code);
  made.allocated = true;
  made.zeroed = zeroed;
  made.order = order;
  return made;
}

const Region kAnonymous{0x1000, 0x2000, 0, false, false, ""};
const Region kPrivateFile{0x1000, 0x2000, 0, false, false, "/lib/x.so"};
const Region kShared{0x1000, 0x2000, 0, true, false, "/dev/zero"};
const Region kHugetlb{0x1000, 0x2000, 0, false, true, "/anon_hugepage"};

TEST(Fault, AWriteToAProtectedPageIsACopyAReuseOrAZeroFillByWhatItAllocates) {
  EXPECT_EQ(classify(allocating(kWriteProtected, false), &kAnonymous), FaultClass::kCopy);
  EXPECT_EQ(classify(fault(kWriteProtected), &kAnonymous), FaultClass::kReuse);
  EXPECT_EQ(classify(allocating(kWriteProtected, true), &kAnonymous), FaultClass::kZeroFill);
  EXPECT_EQ(classify(allocating(kWriteProtected, false), nullptr), FaultClass::kCopy);
}

TEST(Fault, TheKernelsOwnFaultsFollowTheSameRules) {
  EXPECT_EQ(classify(allocating(3, false), &kAnonymous), FaultClass::kCopy);
  EXPECT_TRUE(fault(3).in_kernel());
  EXPECT_FALSE(fault(kWriteProtected).in_kernel());
}

TEST(Fault, ANewAnonymousPageIsAZeroFillUnlessItCameFromElsewhere) {
  EXPECT_EQ(classify(allocating(kWrite, true), &kAnonymous), FaultClass::kZeroFill);
  EXPECT_EQ(classify(allocating(kWrite, false, 9), &kAnonymous), FaultClass::kZeroFill) << "a huge page";
  EXPECT_EQ(classify(allocating(kWrite, false), &kAnonymous), FaultClass::kOther) << "from swap";
  EXPECT_EQ(classify(fault(kRead), &kAnonymous), FaultClass::kOther) << "the shared zero page";
}

TEST(Fault, APageOfAFileIsCopiedByAPrivateWriteAndMappedByARead) {
  EXPECT_EQ(classify(allocating(kWrite, false), &kPrivateFile), FaultClass::kCopy);
  EXPECT_EQ(classify(allocating(kWriteProtected, false), &kPrivateFile), FaultClass::kCopy);
  EXPECT_EQ(classify(fault(kRead), &kPrivateFile), FaultClass::kFile);
  EXPECT_EQ(classify(fault(kWriteProtected), &kShared), FaultClass::kFile);
  EXPECT_EQ(classify(allocating(kWrite, false), &kShared), FaultClass::kFile);
}

TEST(Fault, WhatCannotBeToldIsOther) {
  EXPECT_EQ(classify(fault(kWriteProtected), &kHugetlb), FaultClass::kOther);
  Fault unfinished = allocating(kWriteProtected, false);
  unfinished.end_ns = 0;
  EXPECT_EQ(classify(unfinished, &kAnonymous), FaultClass::kOther);
}

TEST(FaultPairing, EventsOfTwoThreadsAreKeptApart) {
  FaultPairing pairing;
  EXPECT_FALSE(pairing.apply(begin(1, 100, kWriteProtected)));
  EXPECT_FALSE(pairing.apply(begin(2, 110, kWriteProtected)));
  EXPECT_FALSE(pairing.apply(event(FaultEvent::Kind::kAllocation, 2, 120)));
  const auto first = pairing.apply(event(FaultEvent::Kind::kEnd, 1, 130));
  const auto second = pairing.apply(event(FaultEvent::Kind::kEnd, 2, 140));
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(first->allocated);
  EXPECT_TRUE(second->allocated);
  EXPECT_EQ(first->end_ns - first->begin_ns, 30U);
}

TEST(FaultPairing, AFaultWithoutAnEndIsToldWhenTheNextOneBegins) {
  FaultPairing pairing;
  EXPECT_FALSE(pairing.apply(begin(1, 100, kWrite)));
  const auto unfinished = pairing.apply(begin(1, 200, kWrite));
  ASSERT_TRUE(unfinished);
  EXPECT_EQ(unfinished->end_ns, 0U);
  EXPECT_EQ(unfinished->begin_ns, 100U);
}

TEST(FaultPairing, WhatIsAllocatedOutsideAFaultBelongsToNone) {
  FaultPairing pairing;
  EXPECT_FALSE(pairing.apply(event(FaultEvent::Kind::kAllocation, 1, 90)));
  EXPECT_FALSE(pairing.apply(event(FaultEvent::Kind::kEnd, 1, 95)));
  EXPECT_FALSE(pairing.apply(begin(1, 100, kWriteProtected)));
  EXPECT_FALSE(pairing.apply(event(FaultEvent::Kind::kEnd, 1, 110))->allocated);
}

TEST(FaultCounts, BytesFollowTheSizeOfThePages) {
  FaultCounts counts;
  counts.add(allocating(kWrite, false, 9), FaultClass::kZeroFill);
  counts.add(allocating(kWriteProtected, false), FaultClass::kCopy);
  EXPECT_EQ(counts.zeroed_bytes, std::uint64_t{2} << 20);
  EXPECT_EQ(counts.copied_bytes, 4096U);
  EXPECT_EQ(counts.all(), 2U);
}

}  // namespace
}  // namespace zerotax
