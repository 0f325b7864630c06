#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/measured.h"

namespace zerotax::top {

enum class By { kProcess, kUser, kCgroup, kCommand };
ENUM_WORDS(By, "process", "user", "cgroup", "command")
enum class Sort { kFaults, kZeroed, kRefilled, kCpu, kRss, kPid };
ENUM_WORDS(Sort, "faults", "zeroed", "refilled", "cpu", "rss", "pid")

struct Usage {
  RESULT("usage", "A process or a group during the interval.");
  FIELD(std::optional<pid_t>, pid, "PID; only of a process.", least(1));
  FIELD(std::optional<std::uint64_t>, start_ticks,
        "When the process began, in clock ticks since boot; only of a process.");
  FIELD(std::optional<pid_t>, parent, "PID of its parent, 0 if that is not seen from here; only of a process.");
  FIELD(std::string, name, "The command's short name, or the name of the group.", kMayBeEmpty);
  FIELD(std::optional<std::string>, user, "Name of its effective user; only of a process.");
  FIELD(std::optional<std::string>, cgroup,
        "Its cgroup; only of a process, and only if groups by cgroup were asked for.");
  MEMBER(processes, "Processes in this row.", least(1));
  std::uint64_t processes = 1;
  FIELD(std::uint64_t, minor_faults, "Minor faults: zero-fills, copies, and pages of files that were mapped.");
  FIELD(std::uint64_t, major_faults, "Major faults, those of unseen children included.");
  FIELD(std::uint64_t, children_faults,
        "Minor faults of children that it waited for, as far as no look had seen them.");
  FIELD(std::uint64_t, zeroed_at_most_bytes,
        "Upper bound of the bytes that the kernel zeroed: as if each minor fault, children's included, were a "
        "zero-fill, and as many of them as possible of huge pages. Pages of hugetlbfs are left out.");
  FIELD(Measured<std::uint64_t>, refilled_at_most_bytes,
        "Upper bound of refilled bytes: the bound above, without children, less what anonymous resident memory grew "
        "beyond its peak. n/a in the first interval of a process.");
  FIELD(std::int64_t, cpu_ns, "CPU time in nanoseconds, that of unseen children included.");
  FIELD(Measured<std::int64_t>, fault_cpu_estimated_ns,
        "Estimated CPU time in minor faults: their number times fault_cost_ns, at most cpu_ns.");
  FIELD(Measured<double>, fault_cpu_share, "fault_cpu_estimated_ns as a share of cpu_ns.", most(1));
  FIELD(std::uint64_t, resident_bytes, "Resident memory at the end of the interval.");
  FIELD(std::uint64_t, anonymous_bytes, "Of it, memory that is neither of a file nor shared.");
  FIELD(Measured<std::uint64_t>, huge_bytes,
        "Of it, transparent huge pages, at the last look at them; only of a process, because a look is expensive.");
  uid_t uid = 0;  ///< effective; of a process
  [[nodiscard]] std::uint64_t all_faults() const { return minor_faults + children_faults; }
};

struct Machine {
  RESULT("machine",
         "The whole machine during one interval: of /proc/vmstat, and how much of it the processes account for.");
  FIELD(Measured<std::uint64_t>, faults, "Page faults, minor and major (pgfault).");
  FIELD(Measured<std::uint64_t>, major_faults, "Of these, those that read from a disk (pgmajfault).");
  FIELD(Measured<std::uint64_t>, allocated_bytes,
        "Bytes of pages that were allocated for anything (pgalloc of all zones).");
  FIELD(Measured<std::uint64_t>, freed_bytes, "Bytes of pages that were freed (pgfree).");
  FIELD(Measured<std::uint64_t>, huge_zeroed_bytes,
        "Anonymous bytes that were zeroed in pieces larger than a page, a fault each.");
  FIELD(std::uint64_t, seen_faults,
        "Faults of the processes that were seen, and major faults of their unseen children.");
  FIELD(std::uint64_t, children_faults,
        "Minor faults of children that began and ended unseen, as far as a process waited for them.");
  FIELD(Measured<std::uint64_t>, unseen_faults,
        "What remains of faults: of processes that nobody waited for, that are hidden, or that belong to other "
        "containers. Never negative.");
  FIELD(Measured<double>, unseen_share, "unseen_faults as a share of faults.", most(1));
};

struct Own {
  RESULT("own", "What the watching itself used.");
  FIELD(std::int64_t, cpu_ns, "CPU time in nanoseconds.");
  FIELD(double, cpu_share, "The same as a share of one CPU.");
};

struct Sample {
  RESULT("a sample of zerotax top",
         "One line of the file of zerotax top --json or --log: all processes, or groups of them, during one interval. "
         "Counts are of that interval, not a second. A value called at_most is an upper bound, one called "
         "estimated an estimate; the rest is exact, but for the kernel's counters of resident memory, which may be off "
         "by some pages for each CPU. A file that could no longer be written may end with an incomplete line.");
  FIELD(std::string, schema, "Name and version of this format.", one_of("zerotax.top/1"));
  FIELD(std::string, zerotax_version, "Version of zerotax that wrote it.");
  FIELD(std::string, time, "When the interval ended, in UTC.", kUtc);
  FIELD(double, interval_s, "Seconds that the interval lasted.");
  FIELD(By, by, "What a row is.");
  FIELD(Sort, sort, "The column by which rows are sorted, largest first; PIDs, smallest first.");
  FIELD(Measured<double>, fault_cost_ns,
        "CPU time of a zero-fill fault of a small page, in nanoseconds: timed on this machine when zerotax top began.");
  FIELD(Machine, machine,
        "The whole machine, all containers included, from /proc/vmstat; and how much of its faults the processes "
        "account for.");
  FIELD(std::uint64_t, processes, "Processes at the end of the interval, without threads of the kernel.");
  FIELD(std::uint64_t, begun, "Of these, those that began in the interval.");
  FIELD(std::uint64_t, ended, "Processes that were there at its beginning, and not at its end.");
  FIELD(std::uint64_t, hidden, "Processes that /proc lists, and that may not be read.");
  FIELD(std::vector<std::string>, limits, "What cannot be seen here, and why: a sentence each.");
  FIELD(std::uint64_t, rows_left_out, "Rows beyond --rows.");
  FIELD(std::vector<Usage>, rows, "Processes, or groups of them.");
  FIELD(Own, own, "What zerotax top itself used in the interval.");
};

}  // namespace zerotax::top
