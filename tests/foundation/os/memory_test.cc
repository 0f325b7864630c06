#include "os/memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/size.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

/// A root folder with the files that the reader needs.
class Root {
 public:
  Root() : path_(fs::temp_directory_path() / ("zerotax-root-" + std::to_string(::getpid()))) { fs::remove_all(path_); }
  ~Root() { fs::remove_all(path_); }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;
  void file(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

constexpr const char* kMeminfo = "MemTotal: 8388608 kB\nMemFree: 1 kB\nMemAvailable: 4194304 kB\nSwapTotal: 1024 kB\n";

TEST(Memory, IsReadFromMeminfo) {
  const Root root;
  root.file("proc/meminfo", kMeminfo);
  const MemoryState state = read_memory_state(root.path());
  EXPECT_EQ(state.total, 8 * kGiB);
  EXPECT_EQ(state.available, 4 * kGiB);
  EXPECT_EQ(state.swap, kMiB);
  EXPECT_FALSE(state.cgroup_limit);
  EXPECT_EQ(state.usable(), 4 * kGiB);
}

TEST(Memory, TakesTheTightestLimitFromTheCgroupUpwards) {
  const Root root;
  root.file("proc/meminfo", kMeminfo);
  root.file("proc/self/cgroup", "0::/user/session\n");
  root.file("sys/fs/cgroup/user/session/memory.max", "max\n");
  root.file("sys/fs/cgroup/user/session/memory.current", "1048576\n");
  root.file("sys/fs/cgroup/user/memory.max", "1073741824\n");
  root.file("sys/fs/cgroup/user/memory.current", "536870912\n");
  const MemoryState state = read_memory_state(root.path());
  EXPECT_EQ(state.cgroup_limit, kGiB);
  EXPECT_EQ(state.cgroup_available, kGiB / 2);
  EXPECT_EQ(state.usable(), kGiB / 2);
}

TEST(Memory, IsNotWidenedByAnAncestorThatAllowsMore) {
  const Root root;
  root.file("proc/meminfo", kMeminfo);
  root.file("proc/self/cgroup", "0::/user/session\n");
  root.file("sys/fs/cgroup/user/session/memory.max", "1073741824\n");
  root.file("sys/fs/cgroup/user/session/memory.current", "536870912\n");
  root.file("sys/fs/cgroup/user/memory.max", "2147483648\n");
  root.file("sys/fs/cgroup/user/memory.current", "805306368\n");
  const MemoryState state = read_memory_state(root.path());
  EXPECT_EQ(state.cgroup_limit, kGiB);
  EXPECT_EQ(state.cgroup_available, kGiB / 2);
}

TEST(Memory, IsShortWhereAWiderAncestorIsNearlyFull) {
  const Root root;
  root.file("proc/meminfo", kMeminfo);
  root.file("proc/self/cgroup", "0::/user/session\n");
  root.file("sys/fs/cgroup/user/session/memory.max", "1073741824\n");
  root.file("sys/fs/cgroup/user/session/memory.current", "536870912\n");
  root.file("sys/fs/cgroup/user/memory.max", "2147483648\n");
  root.file("sys/fs/cgroup/user/memory.current", "2146435072\n");
  const MemoryState state = read_memory_state(root.path());
  EXPECT_EQ(state.cgroup_limit, kGiB);
  EXPECT_EQ(state.cgroup_available, kMiB);
}

TEST(Memory, KnowsTheFirstVersionOfCgroups) {
  const Root root;
  root.file("proc/meminfo", kMeminfo);
  root.file("proc/self/cgroup", "5:cpu,cpuacct:/job\n4:memory:/job\n0::/\n");
  root.file("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2147483648\n");
  root.file("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "2147483649\n");
  root.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.file("sys/fs/cgroup/memory/memory.usage_in_bytes", "5\n");
  const MemoryState state = read_memory_state(root.path());
  EXPECT_EQ(state.cgroup_limit, 2 * kGiB);
  EXPECT_EQ(state.cgroup_available, 0U);
}

TEST(Memory, TakesTheHugeNumberOfTheFirstVersionForNoLimit) {
  const Root root;
  root.file("proc/meminfo", kMeminfo);
  root.file("proc/self/cgroup", "4:memory:/\n");
  root.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.file("sys/fs/cgroup/memory/memory.usage_in_bytes", "5\n");
  const MemoryState state = read_memory_state(root.path());
  EXPECT_FALSE(state.cgroup_limit);
  EXPECT_FALSE(state.cgroup_available);
}

TEST(Memory, IsKnownWithoutProc) {
  const Root nothing;
  const MemoryState asked = read_memory_state(nothing.path());
  const MemoryState read = read_memory_state();
  EXPECT_EQ(asked.total, read.total);
  EXPECT_GT(asked.available, 0U);
  EXPECT_LE(asked.available, asked.total);
  EXPECT_EQ(asked.swap, read.swap);
}

TEST(Memory, OfThisMachineIsPlausible) {
  const MemoryState state = read_memory_state();
  EXPECT_GT(state.total, 256 * kMiB);
  EXPECT_LE(state.available, state.total);
  const auto own = resident_bytes(::getpid());
  ASSERT_TRUE(own);
  EXPECT_GT(*own, 1 * kMiB);
  EXPECT_FALSE(resident_bytes(0x7fffffff));
}

TEST(Memory, WarmsUpAndStopsWhenAsked) {
  EXPECT_TRUE(warm_up_memory(32 * kMiB, nullptr));
  EXPECT_FALSE(warm_up_memory(32 * kMiB, [] { return true; }));
}

}  // namespace
}  // namespace zerotax
