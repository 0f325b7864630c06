#include "observe/page_sharing.h"

#include <gtest/gtest.h>

#include <set>

namespace zerotax {
namespace {

constexpr pid_t kParent = 10;
constexpr pid_t kChild = 11;
constexpr pid_t kOther = 12;

/// A fixture in which a process has every page, unless given_up_ lists the page.
class PageSharingTest : public ::testing::Test {
 protected:
  FaultClass fault(pid_t pid, std::uint64_t page) { return sharing_.anonymous_fault(pid, page, ++time_ns_); }

  std::uint64_t time_ns_ = 0;
  std::set<std::pair<pid_t, std::uint64_t>> given_up_;
  PageSharing sharing_{[this](pid_t pid, std::uint64_t page) { return !given_up_.contains({pid, page}); }};
};

TEST_F(PageSharingTest, TheFirstFaultOnAPageFillsItWithZeros) {
  EXPECT_EQ(fault(kParent, 1), FaultClass::kZeroFill);
  EXPECT_EQ(fault(kParent, 1), FaultClass::kZeroFill) << "the page had been returned";
}

TEST_F(PageSharingTest, TheFirstWriterAfterAForkCopiesAndTheLastReuses) {
  fault(kParent, 1);
  fault(kParent, 2);
  sharing_.fork(kParent, kChild);
  EXPECT_EQ(fault(kChild, 1), FaultClass::kCopy);
  EXPECT_EQ(fault(kParent, 1), FaultClass::kReuse);
  EXPECT_EQ(fault(kParent, 2), FaultClass::kCopy);
  EXPECT_EQ(fault(kChild, 2), FaultClass::kReuse);
}

TEST_F(PageSharingTest, AfterTheChildsEndNothingIsCopied) {
  fault(kParent, 1);
  sharing_.fork(kParent, kChild);
  sharing_.end(kChild);
  EXPECT_EQ(fault(kParent, 1), FaultClass::kReuse);
}

TEST_F(PageSharingTest, OfThreeTheLastOneReuses) {
  fault(kParent, 1);
  sharing_.fork(kParent, kChild);
  sharing_.fork(kParent, kOther);
  EXPECT_EQ(fault(kParent, 1), FaultClass::kCopy);
  EXPECT_EQ(fault(kChild, 1), FaultClass::kCopy);
  EXPECT_EQ(fault(kOther, 1), FaultClass::kReuse);
}

TEST_F(PageSharingTest, ACopyIsSharedByTheNextForkAlone) {
  fault(kParent, 1);
  sharing_.fork(kParent, kChild);
  EXPECT_EQ(fault(kParent, 1), FaultClass::kCopy);
  sharing_.fork(kParent, kOther);
  EXPECT_EQ(fault(kChild, 1), FaultClass::kReuse) << "only the first child has the old page";
  EXPECT_EQ(fault(kOther, 1), FaultClass::kCopy);
  EXPECT_EQ(fault(kParent, 1), FaultClass::kReuse);
}

TEST_F(PageSharingTest, WhatTheOtherGaveUpIsReused) {
  fault(kParent, 1);
  sharing_.fork(kParent, kChild);
  given_up_.insert({kChild, 1});
  EXPECT_EQ(fault(kParent, 1), FaultClass::kReuse);
  sharing_.end(kChild);
  EXPECT_EQ(fault(kParent, 1), FaultClass::kZeroFill);
}

TEST_F(PageSharingTest, PagesThatWereThereBeforeAreKnownByTheKernelsWord) {
  sharing_.found(kParent, 1, 0, true, 0);
  sharing_.found(kParent, 2, 0, false, 0);
  sharing_.found(kParent, 3, 0, true, 0);
  sharing_.found(kChild, 3, 0, true, kParent);
  EXPECT_EQ(fault(kParent, 1), FaultClass::kCopy) << "shared with a process that is not watched";
  EXPECT_EQ(fault(kParent, 2), FaultClass::kReuse);
  EXPECT_EQ(fault(kParent, 3), FaultClass::kCopy);
  EXPECT_EQ(fault(kChild, 3), FaultClass::kReuse);
}

TEST_F(PageSharingTest, WhatWasGivenBackIsFilledAnew) {
  fault(kParent, 1);
  fault(kParent, 2);
  sharing_.fork(kParent, kChild);
  sharing_.end(kChild);
  sharing_.keep_only(kParent, {2});
  EXPECT_EQ(fault(kParent, 1), FaultClass::kZeroFill);
  EXPECT_EQ(fault(kParent, 2), FaultClass::kReuse);
}

TEST_F(PageSharingTest, AFaultBeforeAPageWasFoundIsWhatBroughtIt) {
  sharing_.found(kParent, 1, 100, false, 0);
  EXPECT_EQ(fault(kParent, 1), FaultClass::kZeroFill);
}

TEST_F(PageSharingTest, APageOfAFileIsCopiedOnceAndThenLikeAnyOther) {
  EXPECT_EQ(sharing_.file_fault(kParent, 1, 1, false), FaultClass::kFile);
  EXPECT_EQ(sharing_.file_fault(kParent, 1, 2, true), FaultClass::kCopy);
  sharing_.fork(kParent, kChild);
  EXPECT_EQ(sharing_.file_fault(kChild, 1, 3, true), FaultClass::kCopy);
  EXPECT_EQ(sharing_.file_fault(kParent, 1, 4, true), FaultClass::kReuse);
}

TEST_F(PageSharingTest, APartOfAHugePageIsCopiedWhileAnotherProcessHasAnyPart) {
  fault(kParent, 513);
  sharing_.found_huge(kParent, 512, 512, time_ns_);
  sharing_.fork(kParent, kChild);
  EXPECT_EQ(fault(kParent, 600), FaultClass::kCopy);
  EXPECT_EQ(fault(kChild, 600), FaultClass::kCopy) << "the parent has the other parts";
  EXPECT_EQ(fault(kChild, 600), FaultClass::kZeroFill) << "the page had been returned";
  sharing_.end(kChild);
  EXPECT_EQ(fault(kParent, 601), FaultClass::kReuse);
}

}  // namespace
}  // namespace zerotax
