#include <gtest/gtest.h>

#include <set>

#include "doctor/table.h"
#include "planted_machine.h"

namespace zerotax::doctor {
namespace {

Finding find(const std::vector<Row>& rows, Topic topic, const std::string& name) {
  for (const Row& row : rows) {
    if (row.topic == topic && row.name == name) return row.finding;
  }
  ADD_FAILURE() << "no check " << name;
  return {};
}

class Doctor : public testing::Test {
 protected:
  Finding finding(Topic topic, const std::string& name) { return find(examine(Machine(planted.path())), topic, name); }
  PlantedMachine planted;
};

TEST_F(Doctor, EveryRowHasItsOwnNameAndAnEffectWhereItWeighs) {
  std::set<std::pair<Topic, std::string>> names;
  for (const Row& row : examine(Machine())) {
    EXPECT_TRUE(names.emplace(row.topic, row.name).second) << row.name;
    EXPECT_LE(row.name.size(), 21U) << row.name;
    const bool weighs = row.finding.weight != Weight::kOk && row.finding.weight != Weight::kUnknown;
    EXPECT_EQ(weighs, !row.finding.effect.empty()) << row.name;
  }
  EXPECT_GE(names.size(), 30U);
}

TEST_F(Doctor, AnEmptyMachineIsUnknownNotWell) {
  for (const Row& row : examine(Machine(planted.path()))) {
    if (row.topic == Topic::kMemory) continue;  // without /proc, checks of memory ask the kernel instead
    const bool unknown = row.finding.weight == Weight::kUnknown;
    EXPECT_TRUE(!unknown || !row.finding.state) << row.name;
  }
  EXPECT_EQ(finding(Topic::kCpu, "load").weight, Weight::kUnknown);
  EXPECT_EQ(finding(Topic::kMemory, "huge pages").weight, Weight::kUnknown);
}

TEST_F(Doctor, LoadIsWeighedByTheCpusThatAreAllowed) {
  planted.file("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-3,8\n");
  planted.file("proc/loadavg", "0.40 0.2 0.1 1/100 4711\n");
  EXPECT_EQ(finding(Topic::kCpu, "load").weight, Weight::kOk);
  planted.file("proc/loadavg", "0.60 0.2 0.1 1/100 4711\n");
  EXPECT_EQ(finding(Topic::kCpu, "load").weight, Weight::kNote);
  planted.file("proc/loadavg", "2.50 0.2 0.1 1/100 4711\n");
  EXPECT_EQ(finding(Topic::kCpu, "load").weight, Weight::kSpoils);
  EXPECT_EQ(finding(Topic::kCpu, "load").state, "2.50 in the last minute, 5 CPUs");
}

TEST_F(Doctor, OneGovernorThatSavesPowerSpoilsTimes) {
  planted.file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  EXPECT_EQ(finding(Topic::kCpu, "frequency governor").weight, Weight::kOk);
  planted.file("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
  const Finding found = finding(Topic::kCpu, "frequency governor");
  EXPECT_EQ(found.weight, Weight::kSpoils);
  EXPECT_EQ(found.state, "performance, powersave");
}

TEST_F(Doctor, ReadsTheWordInBrackets) {
  const std::string folder = "sys/kernel/mm/transparent_hugepage/";
  planted.file(folder + "enabled", "[always] madvise never\n");
  planted.file(folder + "defrag", "always defer defer+madvise [madvise] never\n");
  EXPECT_EQ(finding(Topic::kMemory, "huge pages").state, "always");
  EXPECT_EQ(finding(Topic::kMemory, "huge pages").weight, Weight::kNote);
  EXPECT_EQ(finding(Topic::kMemory, "huge pages: defrag").state, "madvise");
  EXPECT_EQ(finding(Topic::kMemory, "huge pages: defrag").weight, Weight::kOk);
}

TEST_F(Doctor, BalancingSpoilsOnlyWithSeveralNodes) {
  planted.file("proc/sys/kernel/numa_balancing", "1\n");
  planted.file("sys/devices/system/node/node0/cpulist", "0\n");
  planted.file("sys/devices/system/node/online", "0\n");
  EXPECT_EQ(finding(Topic::kMemory, "NUMA balancing").weight, Weight::kOk);
  planted.file("sys/devices/system/node/node1/cpulist", "1\n");
  EXPECT_EQ(finding(Topic::kMemory, "NUMA balancing").weight, Weight::kSpoils);
  EXPECT_EQ(finding(Topic::kMemory, "NUMA nodes").state, "2");
}

TEST_F(Doctor, FindsTheTightestQuotaFromTheCgroupUpwards) {
  planted.file("proc/self/status", "Cpus_allowed_list:\t0-1\n");
  planted.file("proc/self/cgroup", "0::/a/b\n");
  planted.file("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(finding(Topic::kCpu, "CPU quota (cgroup)").weight, Weight::kOk);
  planted.file("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  const Finding found = finding(Topic::kCpu, "CPU quota (cgroup)");
  EXPECT_EQ(found.weight, Weight::kSpoils);
  EXPECT_EQ(found.state, "1.50 CPUs (/sys/fs/cgroup/a/cpu.max)");
  EXPECT_EQ(found.remedy, "echo max > /sys/fs/cgroup/a/cpu.max");
}

TEST_F(Doctor, FindsAQuotaOfVersionOneAsWell) {
  planted.file("proc/self/status", "Cpus_allowed_list:\t0-1\n");
  planted.file("proc/self/cgroup", "3:cpu,cpuacct:/job\n");
  planted.file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n");
  planted.file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  planted.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  planted.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  const Finding found = finding(Topic::kCpu, "CPU quota (cgroup)");
  EXPECT_EQ(found.weight, Weight::kSpoils);
  EXPECT_EQ(found.state, "0.50 CPUs (/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us)");
}

TEST_F(Doctor, MemoryLimitsAndAtLastStops) {
  planted.file("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\nSwapTotal: 0 kB\n");
  EXPECT_EQ(finding(Topic::kMemory, "available").weight, Weight::kOk);
  planted.file("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 524288 kB\nSwapTotal: 1024 kB\n");
  EXPECT_EQ(finding(Topic::kMemory, "available").weight, Weight::kLimits);
  EXPECT_EQ(finding(Topic::kMemory, "swap").weight, Weight::kSpoils) << "little memory is left";
  planted.file("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 65536 kB\nSwapTotal: 0 kB\n");
  EXPECT_EQ(finding(Topic::kMemory, "available").weight, Weight::kStops);
  EXPECT_EQ(doctor_status(examine(Machine(planted.path()))), ExitStatus::kMachine);
}

TEST_F(Doctor, PermissionOfPerfEventsDependsOnTheUser) {
  planted.file("proc/sys/kernel/perf_event_paranoid", "2\n");
  planted.file("proc/self/status", "CapEff:\t0000000000000000\n");
  EXPECT_EQ(finding(Topic::kRights, "perf events").weight, Weight::kLimits);
  EXPECT_EQ(finding(Topic::kRights, "tracepoints (tracefs)").weight, Weight::kLimits);
  planted.file("proc/self/status", "CapEff:\t000001ffffffffff\n");
  EXPECT_EQ(finding(Topic::kRights, "perf events").weight, Weight::kOk);
  planted.file("proc/self/status", "CapEff:\t0000000000000000\n");
  planted.file("proc/sys/kernel/perf_event_paranoid", "1\n");
  EXPECT_EQ(finding(Topic::kRights, "perf events").weight, Weight::kOk);
}

TEST_F(Doctor, VariablesThatAllocatorsReadSpoil) {
  using namespace std::string_literals;
  planted.file("proc/self/environ", "HOME=/root\0PATH=/bin\0LD_PRELOAD=\0"s);
  EXPECT_EQ(finding(Topic::kZerotax, "environment").weight, Weight::kOk) << "an empty LD_PRELOAD does nothing";
  planted.file("proc/self/environ", "HOME=/root\0MALLOC_CONF=retain:false\0LD_PRELOAD=/x.so\0"s);
  const Finding found = finding(Topic::kZerotax, "environment");
  EXPECT_EQ(found.weight, Weight::kSpoils);
  EXPECT_EQ(found.remedy, "unset MALLOC_CONF LD_PRELOAD");
}

TEST_F(Doctor, NamesTheProgramThatTakesMostCpu) {
  planted.file("sys/devices/system/cpu/online", "0-1\n");
  planted.file("proc/stat", "cpu  400 0 0 590 0 0 0 10 0 0\n");
  planted.file("proc/42/stat", "42 (a ) b) S 1 42 42 0 -1 0 0 0 0 0 250 50 0 0 20 0 1 0 0 0 0\n");
  planted.file("proc/42/comm", "a ) b\n");
  planted.file("proc/43/stat", "43 (idle) S 1 43 43 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 0 0 0\n");
  const auto rows = examine(Machine(planted.path()));
  EXPECT_EQ(find(rows, Topic::kCpu, "other programs").state, "a ) b (42): 60 % of a CPU");
  EXPECT_EQ(find(rows, Topic::kCpu, "other programs").weight, Weight::kSpoils);
  EXPECT_EQ(find(rows, Topic::kCpu, "stolen by the host").state, "1.0 %");
}

TEST(DoctorReport, TheWorstRowDecides) {
  const auto with = [](Weight weight) {
    return std::vector<Row>{{Topic::kCpu, "a", {"x", Weight::kLimits, "less", ""}},
                            {Topic::kCpu, "b", {"y", weight, "e", "r"}}};
  };
  EXPECT_EQ(doctor_status(with(Weight::kNote)), ExitStatus::kDone);
  EXPECT_EQ(doctor_status(with(Weight::kSpoils)), ExitStatus::kFinding);
  EXPECT_EQ(doctor_status(with(Weight::kStops)), ExitStatus::kMachine);
  EXPECT_EQ(doctor_document(with(Weight::kStops), NotAvailable{"none"}).verdict, "cannot measure");
  EXPECT_NE(doctor_text(with(Weight::kSpoils)).find("          $ r\n"), std::string::npos);
}

}  // namespace
}  // namespace zerotax::doctor
