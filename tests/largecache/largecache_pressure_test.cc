// Memory pressure and limits, read from files that the test writes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "largecache/adaptive/pressure.h"

namespace zerotax::largecache {
namespace {

namespace fs = std::filesystem;

class Machine : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(root_); }
  void TearDown() override { fs::remove_all(root_); }

  void write_file(const std::string& path, const std::string& text) const {
    const fs::path file = root_ + path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void stall(std::uint64_t total) const {
    write_file("/proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=" + std::to_string(total) +
                                            "\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  }

  std::string root_ = "/tmp/largecache-pressure-" + std::to_string(getpid());
};

TEST_F(Machine, IsUnderPressureWhenTasksHaveWaitedForMemory) {
  stall(1'000'000);
  Pressure pressure(root_.c_str());
  EXPECT_FALSE(pressure.is_high());
  stall(1'000'000'000'000);
  EXPECT_TRUE(pressure.is_high());
  EXPECT_FALSE(pressure.is_high()) << "no task has waited since";
}

TEST_F(Machine, IsNotWhereNothingCanBeRead) {
  Pressure pressure(root_.c_str());
  EXPECT_FALSE(pressure.is_high());
  EXPECT_EQ(pressure.group_limit(), UINT64_MAX);
}

TEST_F(Machine, IsWhenAGroupOfVersion2IsNearTheLowerOfItsLimits) {
  write_file("/proc/self/cgroup", "0::/service\n");
  write_file("/sys/fs/cgroup/service/memory.max", "max\n");
  write_file("/sys/fs/cgroup/service/memory.high", "1000000\n");
  write_file("/sys/fs/cgroup/service/memory.current", "900000\n");
  Pressure pressure(root_.c_str());
  EXPECT_EQ(pressure.group_limit(), 1'000'000U);
  EXPECT_FALSE(pressure.is_high());
  write_file("/sys/fs/cgroup/service/memory.current", "900010\n");
  EXPECT_TRUE(pressure.is_high());
  write_file("/sys/fs/cgroup/service/memory.high", "max\n");
  EXPECT_FALSE(pressure.is_high());
}

TEST_F(Machine, FindsTheMemoryControllerOfVersion1AmongOthers) {
  write_file("/proc/self/cgroup", "9:name=systemd:/\n4:memory:/batch/7\n1:cpu:/\n0::/\n");
  write_file("/sys/fs/cgroup/memory/batch/7/memory.limit_in_bytes", "4096000\n");
  write_file("/sys/fs/cgroup/memory/batch/7/memory.usage_in_bytes", "4000000\n");
  Pressure pressure(root_.c_str());
  EXPECT_EQ(pressure.group_limit(), 4'096'000U);
  EXPECT_TRUE(pressure.is_high());
}

}  // namespace
}  // namespace zerotax::largecache
