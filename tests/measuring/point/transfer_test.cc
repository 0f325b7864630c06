#include <gtest/gtest.h>

#include "made_passes.h"
#include "point/point.h"
#include "real_cpu.h"

namespace zerotax {
namespace {

class TransferTest : public PointTest {};

/// The passes of a case that received 1000 bytes in each operation.
Passes receiving_passes() {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(4096, 3096, kByMemset);
  for (PassResult* pass : {&passes.timing, &passes.audit}) {
    auto& samples = const_cast<SampleBlock&>(pass->samples());
    samples.receives = 1;
    for (std::size_t i = 0; i < 8; ++i) op(samples, i).received_bytes = i == 0 ? 7 : 1000;
  }
  const_cast<SampleBlock&>(passes.timing.samples()).transfer = {100, 100'000, 2'000'000, 1'000'000, 50};
  return passes;
}

TEST_F(TransferTest, WhatIsReceivedIsRelatedToTimeFaultsAndZeroedBytes) {
  ONLY_ON_A_REAL_CPU();
  const Json transfer = json(receiving_passes())["transfer"];
  EXPECT_EQ(transfer["ops"], 100);
  EXPECT_EQ(transfer["received_bytes"], 1000);
  EXPECT_DOUBLE_EQ(transfer["mb_per_s"], 50);      // 0.1 MB in 2 ms
  EXPECT_DOUBLE_EQ(transfer["cpu_s_per_gb"], 10);  // 1 ms for 0.1 MB
  EXPECT_DOUBLE_EQ(transfer["faults_per_mb"], 500);
  EXPECT_DOUBLE_EQ(transfer["zeroed_per_received_byte"], 4.096);
  EXPECT_DOUBLE_EQ(transfer["redundant_per_received_byte"], 3.096);
}

TEST_F(TransferTest, ACaseThatReceivesNothingHasNoTransfer) {
  Passes passes;
  passes.timing = timing_pass(8);
  passes.audit = audit_pass(0, 0, 0);
  EXPECT_FALSE(json(passes).contains("transfer"));
}

TEST_F(TransferTest, AReceiveThatBrokeOffHasNoRatesButAReason) {
  Passes passes = receiving_passes();
  passes.timing = make_pass(
      0, [](SampleBlock& samples) { samples.receives = 1; }, PassResult::Status::kFailed, "no server");
  const Json transfer = json(passes)["transfer"];
  for (const char* figure : {"mb_per_s", "cpu_s_per_gb", "faults_per_mb"}) {
    EXPECT_EQ(transfer[figure], (Json{{"na", "timing pass: no server"}})) << figure;
  }
  EXPECT_DOUBLE_EQ(transfer["zeroed_per_received_byte"], 4.096);
}

TEST_F(TransferTest, FaultsThatTheKernelDoesNotTellAreNotAvailable) {
  ONLY_ON_A_REAL_CPU();
  Passes passes = receiving_passes();
  const_cast<SampleBlock&>(passes.timing.samples()).transfer.faults = kNotMeasured;
  const Json transfer = json(passes)["transfer"];
  EXPECT_TRUE(is_not_available(transfer["faults_per_mb"]));
  EXPECT_DOUBLE_EQ(transfer["mb_per_s"], 50);
}

}  // namespace
}  // namespace zerotax
