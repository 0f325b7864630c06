#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/json.h"
#include "observe/fault_data.h"
#include "small_pages.h"

namespace zerotax {
namespace {

const Region kHeap{0x1000, 0x9000, 0, false, false, "[heap]"};
const Region kCode{0x40000, 0x50000, 0x2000, false, false, "/bin/odd \"name\" \xff"};

Fault fault(std::uint64_t begin_ns) {
  Fault fault;
  fault.begin_ns = begin_ns;
  fault.end_ns = begin_ns + 700;
  fault.pid = 10;
  fault.tid = 11;
  fault.address = 0x2345;
  fault.instruction = 0x40010;
  fault.error_code = 7;
  return fault;
}

class FaultLogTest : public testing::Test {
 protected:
  void SetUp() override {
    path = (std::filesystem::temp_directory_path() / ("zerotax-fault-log-" + std::to_string(::getpid()))).string();
  }
  void TearDown() override { std::filesystem::remove(path); }
  [[nodiscard]] std::vector<Json> lines() const {
    std::vector<Json> all;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) all.push_back(Json::parse(line));
    return all;
  }
  std::string path;
};

TEST_F(FaultLogTest, TellsEachFaultInALineOfJson) {
  ONLY_WITH_SMALL_PAGES();
  FaultLog log(path, true);
  log.add(fault(5000), FaultClass::kCopy, 1000, &kHeap, &kCode);
  Fault of_kernel = fault(6000);
  of_kernel.error_code = 3;
  of_kernel.end_ns = 0;
  log.add(of_kernel, FaultClass::kOther, 1000, nullptr, nullptr);
  const FaultLogResult result = log.finish();
  EXPECT_EQ(result.written, 2U);
  EXPECT_EQ(result.not_written, 0U);
  EXPECT_EQ(result.problem, "");
  const auto told = lines();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0]["time_ns"], 4000);
  EXPECT_EQ(told[0]["class"], "copy");
  EXPECT_EQ(told[0]["mapping"], "[heap]");
  EXPECT_EQ(told[0]["code"], "/bin/odd \"name\" \\xff");
  EXPECT_EQ(told[0]["code_offset"], 0x2010);
  EXPECT_EQ(told[0]["copied_bytes"], 4096);
  EXPECT_EQ(told[0]["zeroed_bytes"], 0);
  EXPECT_EQ(told[0]["duration_ns"], 700);
  EXPECT_EQ(told[1]["mapping"], nullptr);
  EXPECT_EQ(told[1]["code"], "kernel");
  EXPECT_TRUE(is_not_available(told[1]["duration_ns"]));
}

TEST_F(FaultLogTest, ForAnOrdinaryUserWhatIsNotSeenIsNotAvailable) {
  FaultLog log(path, false);
  log.add(fault(5000), FaultClass::kZeroFill, 1000, &kHeap, nullptr);
  log.finish();
  const Json told = lines().at(0);
  for (const char* key : {"write", "zeroed_bytes", "duration_ns"}) EXPECT_TRUE(is_not_available(told.at(key))) << key;
  EXPECT_EQ(told["code"], nullptr);
}

TEST_F(FaultLogTest, OnAFullDiskCountsWhatIsMissing) {
  FaultLog log("/dev/full", true);
  for (int i = 0; i < 1000; ++i) log.add(fault(5000), FaultClass::kCopy, 0, &kHeap, &kCode);
  const FaultLogResult result = log.finish();
  EXPECT_EQ(result.written, 0U);
  EXPECT_EQ(result.not_written, 1000U);
  EXPECT_EQ(result.problem, "No space left on device");
}

TEST_F(FaultLogTest, AFileThatCannotGrowEndsWithAWholeLine) {
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  FaultLog log(path, true);
  const rlimit small{100'001, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  for (int i = 0; i < 1000; ++i) log.add(fault(5000), FaultClass::kCopy, 0, &kHeap, &kCode);
  const FaultLogResult result = log.finish();
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_GT(result.written, 100U);
  EXPECT_EQ(result.written + result.not_written, 1000U);
  EXPECT_EQ(lines().size(), result.written);  // no line is cut
}

TEST_F(FaultLogTest, KeepsNoMoreThanSixteenMebibytesForAReaderThatSleeps) {
  int ends[2];
  ASSERT_EQ(::pipe(&ends[0]), 0);
  FaultLog log("/proc/self/fd/" + std::to_string(ends[1]), true);
  ::close(ends[1]);
  constexpr std::uint64_t kFaults = 100'000;
  for (std::uint64_t i = 0; i < kFaults; ++i) log.add(fault(5000), FaultClass::kCopy, 0, &kHeap, &kCode);
  const FaultLogResult result = log.finish();
  ::close(ends[0]);
  EXPECT_GT(result.written, 100U);  // lines that fit into a pipe without a reader
  EXPECT_LT(result.written, 1000U);
  EXPECT_EQ(result.written + result.not_written, kFaults);
  EXPECT_EQ(result.problem, "its reader was too slow");
}

TEST_F(FaultLogTest, ThatCannotBeOpenedIsRefused) { EXPECT_THROW(FaultLog("/nonexistent/x", true), UsageError); }

}  // namespace
}  // namespace zerotax
