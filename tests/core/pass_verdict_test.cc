#include "core/pass_verdict.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "meter/probe_exit.h"

namespace zerotax {
namespace {

using End = ChildResult::End;
using Status = PassResult::Status;

ChildResult ended_child(End end, int code, const std::string& errors = "") {
  ChildResult child;
  child.end = end;
  child.code = code;
  child.errors = errors;
  return child;
}

/// A record as it is left in this phase of the third of eight operations.
Record record_in(Phase phase) {
  Record record;
  std::memset(&record, 0, sizeof record);
  record.phase = phase;
  record.ops_started = 3;
  record.ops_done = 2;
  return record;
}

Record done_record() {
  Record record = record_in(Phase::kDone);
  record.ops_done = 3;
  return record;
}

TEST(PassVerdict, IsOkOnlyOfARecordThatIsDoneAndAnExitWithZero) {
  EXPECT_EQ(judge_pass(ended_child(End::kExited, 0), done_record(), {}, false).status, Status::kOk);
  for (const Phase phase : {Phase::kStart, Phase::kSetUp, Phase::kCalloc, Phase::kCheck, Phase::kTouch, Phase::kReceive,
                            Phase::kFork, Phase::kFree, Phase::kBetween, Phase::kTransfer}) {
    const PassVerdict verdict = judge_pass(ended_child(End::kExited, 0), record_in(phase), {}, false);
    EXPECT_EQ(verdict.status, Status::kCrashed);
    EXPECT_TRUE(verdict.reason.starts_with("exited with status 0 ")) << verdict.reason;
  }
}

TEST(PassVerdict, NamesTheStatusThePlaceAndTheOperation) {
  EXPECT_EQ(judge_pass(ended_child(End::kExited, 3), record_in(Phase::kFree), {}, false).reason,
            "exited with status 3 in free, operation 3");
  EXPECT_EQ(judge_pass(ended_child(End::kExited, 0), record_in(Phase::kStart), {}, false).reason,
            "exited with status 0 before the first operation");
  EXPECT_EQ(judge_pass(ended_child(End::kExited, 7), done_record(), {}, false).reason,
            "exited with status 7 after the last operation");
}

TEST(PassVerdict, DoesNotTakeAnAllocatorsStatusForOneOfTheProbe) {
  // Without a reason in the record it is no failed case, and without the probe's words nothing of the probe's.
  for (const int status : {kCaseFailed, kWrongRecord, kNoRecord, kNoMachine}) {
    EXPECT_EQ(judge_pass(ended_child(End::kExited, status), record_in(Phase::kCalloc), {}, false).status,
              Status::kCrashed);
    EXPECT_FALSE(probe_says(ended_child(End::kExited, status), status));
    EXPECT_TRUE(probe_says(ended_child(End::kExited, status, std::string(&kProbeSays[0]) + "words\n"), status));
  }
}

TEST(PassVerdict, ReportsANullWithItsErrno) {
  Record record = record_in(Phase::kDone);
  record.returned_null = ENOMEM;
  const PassVerdict verdict = judge_pass(ended_child(End::kExited, 0), record, {}, false);
  EXPECT_EQ(verdict.status, Status::kFailed);
  EXPECT_EQ(verdict.reason, "calloc returned NULL (Cannot allocate memory), operation 3");
  // Who got NULL and then ended the process has crashed.
  record.phase = Phase::kBetween;
  EXPECT_EQ(judge_pass(ended_child(End::kExited, 0), record, {}, false).status, Status::kCrashed);
}

TEST(PassVerdict, OfAStoppedProcessIsACrashAndOfATimeoutSaysTheWholeLimit) {
  EXPECT_EQ(judge_pass(ended_child(End::kSuspended, SIGSTOP), record_in(Phase::kCalloc), {}, false).reason,
            "stopped by SIGSTOP, and not continued, in calloc, operation 3");
  PassLimits limits;
  limits.timeout = std::chrono::seconds(2);
  limits.used = std::chrono::milliseconds(1999);
  EXPECT_EQ(judge_pass(ended_child(End::kTimeout, 0), record_in(Phase::kCalloc), limits, false).reason,
            "not done after 2 s: in calloc, operation 3");
}

}  // namespace
}  // namespace zerotax
