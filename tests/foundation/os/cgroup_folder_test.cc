#include <gtest/gtest.h>

#include <filesystem>

#include "os/cgroup.h"
#include "temporary_folder.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

class Cgroups : public WithTemporaryFolder {
 protected:
  /// Makes a cgroup in the hierarchy that is mounted at the folder.
  void make(const std::string& name, const std::string& processes = "") const {
    fs::create_directories(folder_ / name);
    write(name + "/cgroup.procs", processes);
  }
  [[nodiscard]] std::string second(const std::string& name) const {
    return "cgroup2 " + path(name) + " cgroup2 rw,nosuid 0 0\n";
  }
  [[nodiscard]] std::string first(const std::string& name, const std::string& controllers) const {
    return "cgroup " + path(name) + " cgroup rw," + controllers + " 0 0\n";
  }
};

TEST_F(Cgroups, AreFoundByPathFolderAndLine) {
  make("two/a.slice/b", "12\n");
  make("two");
  const std::string mounts = "proc /proc proc rw 0 0\n" + second("two");
  for (const std::string& name : {std::string("/a.slice/b"), std::string("a.slice/b"), std::string("/a.slice/b/"),
                                  std::string("0::/a.slice/b"), path("two/a.slice/b")}) {
    const auto found = find_cgroup(name, mounts);
    ASSERT_TRUE(found.has_value()) << name;
    EXPECT_EQ(found->path, "/a.slice/b") << name;
    EXPECT_EQ(found->folder, path("two/a.slice/b")) << name;
    EXPECT_TRUE(found->has_perf_events) << name;
  }
  EXPECT_EQ(find_cgroup("/", mounts)->path, "/");
}

TEST_F(Cgroups, NothingElseIsOne) {
  make("two/a");
  make("outside");
  fs::create_directories(folder_ / "two/no");
  for (const char* name : {"", "/absent", "/no", "/../outside", "/etc", "a/b"}) {
    EXPECT_FALSE(find_cgroup(name, second("two")).has_value()) << name;
  }
  EXPECT_FALSE(find_cgroup("/a", "").has_value());
}

TEST_F(Cgroups, OfVersion1ThatOfPerfEventsIsTaken) {
  make("memory/a");
  make("perf/a");
  make("two/a");
  make("memory/only");
  const std::string mounts = first("memory", "memory") + first("perf", "relatime,perf_event") + second("two");
  EXPECT_EQ(find_cgroup("/a", mounts)->folder, path("perf/a"));
  EXPECT_TRUE(find_cgroup("/a", mounts)->has_perf_events);
  EXPECT_EQ(find_cgroup("/only", mounts)->folder, path("memory/only"));
  EXPECT_FALSE(find_cgroup("/only", mounts)->has_perf_events);
  EXPECT_FALSE(find_cgroup(path("two/a"), mounts)->has_perf_events) << "version 1 has them";
  EXPECT_EQ(find_cgroup("/a", first("memory", "memory") + second("two"))->folder, path("two/a"));
}

TEST_F(Cgroups, ProcessesOfGroupsBelowCount) {
  make("two/a", "12\n7\n0\n");
  make("two/a/b/c", "3\n12\n");
  EXPECT_EQ(cgroup_processes(path("two/a")), (std::vector<pid_t>{3, 7, 12}));
  EXPECT_TRUE(cgroup_processes(path("two/absent")).empty());
}

TEST_F(Cgroups, TimeIsInCpuStatOfVersion2) {
  make("two/a");
  EXPECT_FALSE(cgroup_time(path("two/a")).has_value());
  write("two/a/cpu.stat", "usage_usec 30\nuser_usec 10\nsystem_usec 20\nnr_periods 0\n");
  const auto time = cgroup_time(path("two/a"));
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->user_ns, 10'000);
  EXPECT_EQ(time->system_ns, 20'000);
}

}  // namespace
}  // namespace zerotax
