#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "meter/probe_exit.h"
#include "run/probe_process.h"

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

/// The sample block of a process that ended in this phase of the third of eight operations.
SampleBlock samples_in(Phase phase) {
  SampleBlock samples;
  std::memset(&samples, 0, sizeof samples);
  samples.phase = phase;
  samples.ops_started = 3;
  samples.ops_done = 2;
  return samples;
}

SampleBlock done_samples() {
  SampleBlock samples = samples_in(Phase::kDone);
  samples.ops_done = 3;
  return samples;
}

TEST(PassVerdict, IsOkOnlyOfASampleBlockThatIsDoneAndAnExitWithZero) {
  EXPECT_EQ(judge_pass(ended_child(End::kExited, 0), done_samples(), {}, false).status, Status::kOk);
  for (const Phase phase : {Phase::kStart, Phase::kSetUp, Phase::kCalloc, Phase::kCheck, Phase::kTouch, Phase::kReceive,
                            Phase::kFork, Phase::kFree, Phase::kBetween, Phase::kTransfer}) {
    const PassVerdict verdict = judge_pass(ended_child(End::kExited, 0), samples_in(phase), {}, false);
    EXPECT_EQ(verdict.status, Status::kCrashed);
    EXPECT_TRUE(verdict.reason.starts_with("exited with status 0 ")) << verdict.reason;
  }
}

TEST(PassVerdict, NamesTheStatusThePlaceAndTheOperation) {
  EXPECT_EQ(judge_pass(ended_child(End::kExited, 3), samples_in(Phase::kFree), {}, false).reason,
            "exited with status 3 in free, operation 3");
  EXPECT_EQ(judge_pass(ended_child(End::kExited, 0), samples_in(Phase::kStart), {}, false).reason,
            "exited with status 0 before the first operation");
  EXPECT_EQ(judge_pass(ended_child(End::kExited, 7), done_samples(), {}, false).reason,
            "exited with status 7 after the last operation");
}

TEST(PassVerdict, DoesNotTakeAnAllocatorsStatusForOneOfTheProbe) {
  // An allocator may exit with these statuses too. A status means a failed case only if the sample block has a reason.
  // A status comes from the probe only if the probe wrote a line that begins with kProbeSays.
  for (const int status : {kCaseFailed, kWrongSampleBlock, kNoSampleBlock, kNoMachine}) {
    EXPECT_EQ(judge_pass(ended_child(End::kExited, status), samples_in(Phase::kCalloc), {}, false).status,
              Status::kCrashed);
    EXPECT_FALSE(probe_says(ended_child(End::kExited, status), status));
    EXPECT_TRUE(probe_says(ended_child(End::kExited, status, std::string(&kProbeSays[0]) + "words\n"), status));
  }
}

TEST(PassVerdict, ReportsANullWithItsErrno) {
  SampleBlock samples = samples_in(Phase::kDone);
  samples.returned_null = ENOMEM;
  const PassVerdict verdict = judge_pass(ended_child(End::kExited, 0), samples, {}, false);
  EXPECT_EQ(verdict.status, Status::kFailed);
  EXPECT_EQ(verdict.reason, "calloc returned NULL (Cannot allocate memory), operation 3");
  // A process that got NULL and then exited has crashed.
  samples.phase = Phase::kBetween;
  EXPECT_EQ(judge_pass(ended_child(End::kExited, 0), samples, {}, false).status, Status::kCrashed);
}

TEST(PassVerdict, OfAStoppedProcessIsACrashAndOfATimeoutSaysTheWholeLimit) {
  EXPECT_EQ(judge_pass(ended_child(End::kSuspended, SIGSTOP), samples_in(Phase::kCalloc), {}, false).reason,
            "stopped by SIGSTOP, and not continued, in calloc, operation 3");
  PassLimits limits;
  limits.timeout = std::chrono::seconds(2);
  limits.used = std::chrono::milliseconds(1999);
  EXPECT_EQ(judge_pass(ended_child(End::kTimeout, 0), samples_in(Phase::kCalloc), limits, false).reason,
            "not done after 2 s: in calloc, operation 3");
}

}  // namespace
}  // namespace zerotax
